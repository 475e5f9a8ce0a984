//! Mutates JSON documents, and provides a host for plans. Byte mutations rarely produce a valid
//! document with different fields or values.

pub mod host;

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value, json};

/// On average, one in this many mutations changes bytes instead of JSON values.
const BYTE_MUTATION_INTERVAL: u64 = 4;

/// Mutator for `fuzz_mutator!`: changes values of a JSON document, or bytes of other data.
pub fn mutate_json(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) + 1);
    let document = serde_json::from_slice::<Value>(&data[..size]).ok();
    let Some(mut document) = document.filter(|_| random.below(BYTE_MUTATION_INTERVAL) > 0) else {
        return fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=random.below(3) {
        let parts = count(&document);
        let donor = find(&mut document, &mut random.below(parts)).clone();
        let part = find(&mut document, &mut random.below(parts));
        mutate(part, donor, &mut random);
    }
    match serde_json::to_vec(&document) {
        Ok(json) if json.len() <= max_size.min(data.len()) => {
            data[..json.len()].copy_from_slice(&json);
            json.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

/// SplitMix64: libFuzzer requires the same mutation for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

/// Number of values in a document, including itself.
fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum::<u64>(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with this number, in depth-first order.
fn find<'a>(value: &'a mut Value, number: &mut u64) -> &'a mut Value {
    let children: Vec<&'a mut Value> = match value {
        _ if *number == 0 => return value,
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => unreachable!("the number is below the count"),
    };
    *number -= 1;
    for child in children {
        let parts = count(child);
        if *number < parts {
            return find(child, number);
        }
        *number -= parts;
    }
    unreachable!("the number is below the count")
}

fn mutate(part: &mut Value, donor: Value, random: &mut Random) {
    match part {
        _ if random.below(8) == 0 => *part = donor,
        _ if random.below(8) == 0 => *part = leaf(random),
        Value::Array(items) => mutate_list(items, donor, random),
        Value::Object(fields) => mutate_fields(fields, donor, random),
        Value::String(text) if random.below(3) > 0 => mutate_text(text),
        Value::Number(number) if random.below(2) == 0 => {
            let near = number.as_f64().unwrap_or_default();
            *part = match random.below(4) {
                0 => json!(near as u64),
                1 => json!((near as u64).wrapping_add(1)),
                2 => json!(-near),
                _ => json!(near * 1e3),
            };
        }
        _ => *part = leaf(random),
    }
}

fn mutate_list(items: &mut Vec<Value>, donor: Value, random: &mut Random) {
    let at = random.index(items.len() + 1);
    match random.below(4) {
        0 if at < items.len() => drop(items.remove(at)),
        1 if at < items.len() => items.insert(at, items[at].clone()),
        2 if at < items.len() => items.swap(at, 0),
        _ => items.insert(at, donor),
    }
}

fn mutate_fields(fields: &mut Map<String, Value>, donor: Value, random: &mut Random) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    let Some(key) = keys.get(random.index(keys.len())) else {
        return drop(fields.insert("name".into(), donor));
    };
    match random.below(3) {
        0 => drop(fields.remove(key)),
        1 => drop(fields.insert(key.clone(), donor)),
        _ => {
            let mut name = key.clone();
            mutate_text(&mut name);
            let value = fields.remove(key).unwrap_or_default();
            fields.insert(name, value);
        }
    }
}

/// Lets libFuzzer mutate the bytes: it also inserts strings from the program's comparisons.
fn mutate_text(text: &mut String) {
    let mut bytes = text.as_bytes().to_vec();
    let size = bytes.len();
    bytes.resize(size + 32, 0);
    let capacity = bytes.len();
    let size = fuzzer_mutate(&mut bytes, size, capacity);
    *text = String::from_utf8_lossy(&bytes[..size]).into_owned();
}

fn leaf(random: &mut Random) -> Value {
    let leaves = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(0.5),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(1_u64 << 53),
        json!(""),
        json!("0"),
        json!("1"),
        json!("4k"),
        json!("\u{202e}\u{0}\u{1b}[31m"),
        json!([]),
        json!({}),
    ];
    leaves[random.index(leaves.len())].clone()
}
