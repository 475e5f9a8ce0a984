//! Signs messages as defined by Standard Webhooks. Pure.

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "whsec_";
/// Length of a key in bytes, as recommended by Standard Webhooks.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Returns `None` unless the text is `whsec_` followed by 24 to 64 bytes in Base64.
pub(crate) fn parse_secret(text: &str) -> Option<Vec<u8>> {
    let key = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
    KEY_BYTES.contains(&key.len()).then_some(key)
}

/// The `webhook-signature` header: HMAC-SHA-256 of ID, time and body. `timestamp` is in seconds
/// since the Unix epoch.
pub(crate) fn signature(key: &[u8], id: &str, timestamp: u64, body: &str) -> String {
    // HMAC accepts keys of any length.
    let mut mac = match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mac) => mac,
        Err(error) => unreachable!("{error}"),
    };
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example from the Standard Webhooks specification and its reference libraries.
    #[test]
    fn signature_matches_the_reference() {
        let key = parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        assert_eq!(
            signature(&key, id, 1_614_265_330, r#"{"test": 2432232314}"#),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn secrets_have_a_prefix_and_24_to_64_bytes() {
        let secret = |bytes: usize| format!("{PREFIX}{}", STANDARD.encode(vec![1; bytes]));
        for (text, expected) in [
            (secret(24), true),
            (secret(64), true),
            (secret(23), false),
            (secret(65), false),
            (STANDARD.encode([1; 32]), false),
            (format!("{PREFIX}not base64"), false),
        ] {
            assert_eq!(parse_secret(&text).is_some(), expected, "{text}");
        }
    }
}
