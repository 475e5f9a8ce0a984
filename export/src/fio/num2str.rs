//! Numbers with a unit prefix, as fio prints them (`lib/num2str.c`).

const SI: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const IEC: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Unit prefixes of powers of 1000 or 1024.
#[derive(Clone, Copy)]
pub(super) enum Prefixes {
    Si,
    Iec,
}

/// Scales the number down until it has at most `digits` digits, counting the decimal point.
pub(super) fn num2str(number: u64, digits: usize, prefixes: Prefixes) -> String {
    let (thousand, prefixes) = match prefixes {
        Prefixes::Si => (1000, SI),
        Prefixes::Iec => (1024, IEC),
    };
    let mut number = number;
    let mut remainder = None;
    let mut power = 0;
    while number.to_string().len() > digits {
        remainder = Some(number % thousand);
        number /= thousand;
        power += 1;
    }
    let prefix = prefixes[power];
    let room = digits.saturating_sub(number.to_string().len());
    match remainder {
        None => format!("{number}{prefix}"),
        Some(remainder) if room <= 1 => {
            let carry = u64::from(remainder >= thousand / 2);
            format!("{}{prefix}", number + carry)
        }
        Some(remainder) => {
            let fraction = remainder as f64 / thousand as f64;
            let text = format!("{fraction:.*}", room - 1);
            let carry = u64::from(text.starts_with('1'));
            format!("{}.{}{prefix}", number + carry, &text[2..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of fio 3.33.
    #[test]
    fn numbers_are_scaled_as_in_fio() {
        let si = |number, digits| num2str(number, digits, Prefixes::Si);
        let iec = |number, digits| num2str(number, digits, Prefixes::Iec);
        assert_eq!(si(9112, 4), "9112");
        assert_eq!(si(36_432, 4), "36.4k");
        assert_eq!(si(17_970, 4), "18.0k");
        assert_eq!(si(1_234_567, 4), "1235k");
        assert_eq!(si(6_095_120, 6), "6095.1k");
        assert_eq!(iec(149_225_472, 4), "142Mi");
        assert_eq!(iec(37_324_569, 4), "35.6Mi");
        assert_eq!(si(149_225_472, 4), "149M");
    }
}
