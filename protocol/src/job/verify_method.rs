//! The `verify` option, and the lengths of fio's headers.

use crate::named_enum::named_enum;

named_enum! {
    names: "lowercase", kind: "checksum";
    /// Checksum of written blocks, in fio's header.
    pub enum VerifyMethod {
        /// Blocks are not verified.
        #[strum(to_string = "none", serialize = "0")]
        None,
        Md5,
        Crc7,
        Crc16,
        Crc32,
        #[strum(to_string = "crc32c", serialize = "crc32c-intel")]
        Crc32c,
        Crc64,
        Sha1,
        Sha256,
        Sha512,
        #[serde(rename = "sha3-224")]
        #[strum(to_string = "sha3-224")]
        Sha3With224,
        #[serde(rename = "sha3-256")]
        #[strum(to_string = "sha3-256")]
        Sha3With256,
        #[serde(rename = "sha3-384")]
        #[strum(to_string = "sha3-384")]
        Sha3With384,
        #[serde(rename = "sha3-512")]
        #[strum(to_string = "sha3-512")]
        Sha3With512,
        /// XXH32.
        Xxhash,
        /// A header without a checksum, and `verify_pattern`, as in fio if only `verify_pattern` is
        /// set.
        #[serde(rename = "header-pattern")]
        #[strum(to_string = "header-pattern")]
        HeaderPattern,
        /// `verify_pattern` without a header.
        Pattern,
    }
}

/// Length of fio's header without its checksum (`struct verify_header` in verify.h, fio 3.33 to
/// 3.40).
const HEADER_BYTES: usize = 40;

impl VerifyMethod {
    /// All values, `none` first.
    pub const ALL: [Self; 17] = [
        Self::None,
        Self::Md5,
        Self::Crc7,
        Self::Crc16,
        Self::Crc32,
        Self::Crc32c,
        Self::Crc64,
        Self::Sha1,
        Self::Sha256,
        Self::Sha512,
        Self::Sha3With224,
        Self::Sha3With256,
        Self::Sha3With384,
        Self::Sha3With512,
        Self::Xxhash,
        Self::HeaderPattern,
        Self::Pattern,
    ];

    /// Length of the checksum as fio stores it, in bytes.
    pub const fn checksum_bytes(self) -> usize {
        match self {
            Self::None | Self::HeaderPattern | Self::Pattern => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3With224 => 28,
            Self::Sha3With256 => 32,
            Self::Sha3With384 => 48,
            Self::Sha256 | Self::Sha3With512 => 64,
            Self::Sha512 => 128,
        }
    }

    /// Length of the header with its checksum in bytes; 0 if there is no header.
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::None | Self::Pattern => 0,
            _ => HEADER_BYTES + self.checksum_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VerifyMethod;
    use strum::VariantNames;

    #[test]
    fn names_match_fio() {
        let names = VerifyMethod::ALL.map(VerifyMethod::as_str);
        assert_eq!(names, VerifyMethod::VARIANTS);
        assert_eq!("crc32c-intel".parse(), Ok(VerifyMethod::Crc32c));
        for method in VerifyMethod::ALL {
            assert_eq!(method.as_str().parse(), Ok(method));
            let json = format!("\"{}\"", method.as_str());
            assert_eq!(serde_json::to_string(&method).unwrap(), json);
        }
    }
}
