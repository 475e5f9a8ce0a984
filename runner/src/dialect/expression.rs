//! Arithmetic in option values. fio uses `bc` to compute expressions that contain keywords, and
//! computes expressions in parentheses itself (exp/expression-parser.y). Leadline passes nothing to
//! another program.

/// Maximum number of nested parentheses, which use stack space.
const MAX_DEPTH: u32 = 32;

/// Evaluates `+ - * / %`, parentheses and numbers with units. `unit` returns the factor of a unit,
/// or `None` if it is unknown. `bc` truncates the results of divisions; fio's own parser does not.
pub(crate) fn evaluate(
    text: &str,
    unit: &dyn Fn(&str) -> Option<f64>,
    truncates: bool,
) -> Option<f64> {
    let mut parser = Parser {
        rest: text.trim(),
        unit,
        truncates,
        depth: 0,
    };
    let value = parser.sum()?;
    (parser.rest.is_empty() && value.is_finite()).then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    unit: &'a dyn Fn(&str) -> Option<f64>,
    truncates: bool,
    depth: u32,
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' {
                value + right
            } else {
                value - right
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.operand()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let right = self.operand()?;
            if operator != '*' && right == 0.0 {
                return None;
            }
            value = match operator {
                '*' => value * right,
                '/' if self.truncates => (value / right).trunc(),
                '/' => value / right,
                _ => value % right,
            };
        }
        Some(value)
    }

    fn operand(&mut self) -> Option<f64> {
        if self.take(&['-']).is_some() {
            return self.operand_within_depth().map(|value| -value);
        }
        self.operand_within_depth()
    }

    fn operand_within_depth(&mut self) -> Option<f64> {
        if self.take(&['(']).is_none() {
            return self.number();
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.sum()?;
        self.take(&[')'])?;
        self.depth -= 1;
        Some(value)
    }

    fn number(&mut self) -> Option<f64> {
        let end = self.end_of(|c| c.is_ascii_digit() || c == '.');
        let (digits, rest) = self.rest.split_at(end);
        let number: f64 = digits.parse().ok()?;
        self.rest = rest;
        let end = self.end_of(|c| c.is_ascii_alphabetic());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if name.is_empty() {
            return Some(number);
        }
        (self.unit)(name).map(|factor| number * factor)
    }

    fn end_of(&self, is_part: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len())
    }

    fn take(&mut self, operators: &[char]) -> Option<char> {
        let first = self.rest.chars().next()?;
        if !operators.contains(&first) {
            return None;
        }
        self.rest = self.rest[first.len_utf8()..].trim_start();
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn expressions_follow_operator_precedence() {
        let unit = |name: &str| (name == "k").then_some(1024.0);
        for (text, truncates, want) in [
            ("2*3+4", true, Some(10.0)),
            ("2+3*4", true, Some(14.0)),
            ("(2+3)*4", true, Some(20.0)),
            ("7/2", true, Some(3.0)),
            ("7/2", false, Some(3.5)),
            ("-3+5", true, Some(2.0)),
            ("4k*2", false, Some(8192.0)),
            ("10 % 4", true, Some(2.0)),
            ("1/0", true, None),
            ("4x", true, None),
            ("2+", true, None),
            ("/tmp/4.dat", true, None),
            ("(1", true, None),
            ("", true, None),
        ] {
            assert_eq!(evaluate(text, &unit, truncates), want, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(100_000), &unit, true), None);
    }
}
