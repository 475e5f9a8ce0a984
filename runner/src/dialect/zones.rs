//! Zones of a random distribution, as fio reads them (options.c, `zone_split_ddir`).

/// Completes a distribution such as `zoned:50/5:30/15:20/,10/90:90/10`: adds missing sizes, and the
/// prefix `zoned:` in each direction. Zones without a size share the rest of the region.
pub(crate) fn fill_in_zone_sizes(distribution: &str) -> Option<String> {
    let zones = distribution.strip_prefix("zoned:")?;
    let directions: Option<Vec<String>> = zones.split(',').map(direction).collect();
    Some(directions?.join(","))
}

fn direction(zones: &str) -> Option<String> {
    let mut parsed = Vec::new();
    for zone in zones.split(':') {
        let (access, size) = zone.split_once('/').unwrap_or((zone, ""));
        let size = match size {
            "" => None,
            size => Some(size.parse::<u32>().ok()?),
        };
        parsed.push((access, size));
    }
    let sum: u32 = parsed.iter().filter_map(|(_, size)| *size).sum();
    let blanks = parsed.iter().filter(|(_, size)| size.is_none()).count() as u32;
    let rest = 100u32.checked_sub(sum)?;
    let share = rest.checked_div(blanks).unwrap_or(0);
    let zones: Vec<String> = parsed
        .into_iter()
        .map(|(access, size)| format!("{access}/{}", size.unwrap_or(share)))
        .collect();
    Some(format!("zoned:{}", zones.join(":")))
}

#[cfg(test)]
mod tests {
    use super::fill_in_zone_sizes;

    #[test]
    fn zones_without_a_size_share_the_rest() {
        for (text, want) in [
            ("zoned:60/10:40/90", Some("zoned:60/10:40/90")),
            ("zoned:50/5:30/15:20/", Some("zoned:50/5:30/15:20/80")),
            ("zoned:50/20:30/:20", Some("zoned:50/20:30/40:20/40")),
            (
                "zoned:60/10:40/,100/100",
                Some("zoned:60/10:40/90,zoned:100/100"),
            ),
            ("zoned:60/x:40/90", None),
            ("zoned:60/110:40/", None),
            ("zipf:1.2", None),
        ] {
            assert_eq!(fill_in_zone_sizes(text).as_deref(), want, "{text}");
        }
    }
}
