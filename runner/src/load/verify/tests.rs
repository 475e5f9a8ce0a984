//! Compares the format with fio's, and tests every kind of damage.

use crate::{
    load::{
        pattern::io::{Io, Kind},
        verify::{
            check::check,
            format::Format,
            header::Header,
            written_blocks::{BlockState, Expected, WrittenBlocks},
        },
    },
    plan::fixture::{resolved, target},
};
use leadline_protocol::{
    job::verify_method::VerifyMethod, plan::job::ResolvedJob, report::verify::Damage,
};
use serde_json::json;

const BLOCK: usize = 4096;

/// The first bytes of a block that fio 3.33 wrote at offset 4096.
const FIO_HEADER: [u8; 44] = [
    0xca, 0xac, 0x05, 0x00, 0x00, 0x10, 0x00, 0x00, 0x81, 0x03, 0x61, 0xdc, 0x5c, 0x2d, 0x31, 0x1a,
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xd6, 0x48, 0x01, 0x00, 0x44, 0x6b, 0xe4, 0x37,
    0x01, 0x00, 0x09, 0x00, 0xc0, 0xa2, 0x55, 0x18, 0x80, 0xeb, 0x1f, 0xb5,
];

#[test]
fn fio_headers_are_read() {
    let mut block = vec![7; BLOCK];
    block[..FIO_HEADER.len()].copy_from_slice(&FIO_HEADER);
    let header = Header::read(&block).expect("a header");
    assert_eq!((header.length, header.offset), (4096, 4096));
    assert_eq!(header.seed, 0x1a31_2d5c_dc61_0381);
    assert!(!header.matches(&block), "the data was not written by fio");
    block[20] ^= 1;
    assert_eq!(Header::read(&block), None);
}

fn job(method: VerifyMethod, header_offset: usize) -> ResolvedJob {
    let verify = json!({"method": method, "interval": BLOCK, "reads_back": true, "only": false, "fatal": false,
        "header_offset": header_offset});
    let has_pattern = matches!(method, VerifyMethod::HeaderPattern | VerifyMethod::Pattern);
    let pattern = has_pattern.then_some("0xa5%o0x3c");
    resolved(json!({"rw": "randwrite", "verify": verify, "verify_pattern": pattern}))
}

struct Storage {
    format: Format,
    written: WrittenBlocks,
    bytes: Vec<u8>,
}

impl Storage {
    fn new() -> Self {
        Self::with(VerifyMethod::Crc32c, 0)
    }

    fn with(method: VerifyMethod, header_offset: usize) -> Self {
        let job = job(method, header_offset);
        let options = job.data.verify.expect("verify");
        Self {
            format: Format::new(&options, &job.data),
            written: WrittenBlocks::new(&job, &options, 0, 1),
            bytes: vec![0; target(0, 1 << 20).size as usize],
        }
    }

    /// Writes a block, and returns its data.
    fn write(&mut self, block: usize) -> Vec<u8> {
        let (io, data) = self.begin(block);
        self.written.complete(&io);
        data
    }

    fn begin(&mut self, block: usize) -> (Io, Vec<u8>) {
        let io = Io {
            offset: (block * BLOCK) as u64,
            len: BLOCK as u32,
            target: 0,
            kind: Kind::Write,
        };
        let mut data = vec![0x5a; BLOCK];
        self.written.begin(&io, &mut data);
        self.put(block, &data);
        (io, data)
    }

    fn put(&mut self, block: usize, data: &[u8]) {
        self.bytes[block * BLOCK..][..BLOCK].copy_from_slice(data);
    }

    fn expected(&self, block: usize) -> Expected {
        match self.written.state(0, block) {
            BlockState::Written(expected) => expected,
            state => panic!("{state:?}"),
        }
    }

    fn damage(&self, block: usize) -> Option<Damage> {
        let bytes = &self.bytes[block * BLOCK..][..BLOCK];
        let offset = (block * BLOCK) as u64;
        let checked = check(&self.format, bytes, offset, self.expected(block));
        checked.err().map(|finding| finding.kind)
    }
}

#[test]
fn the_last_write_passes_verification() {
    let mut storage = Storage::new();
    for round in 0..3 {
        for block in [0, 1, 255] {
            storage.write(block);
            assert_eq!(storage.damage(block), None, "{round}, {block}");
        }
    }
    assert_eq!(storage.written.state(0, 2), BlockState::Untouched);
}

#[test]
fn damage_is_classified() {
    let mut storage = Storage::new();
    let old = storage.write(3);
    let new = storage.write(3);
    let other = storage.write(4);
    let mut expect = |data: &[u8], kind| {
        storage.put(3, data);
        assert_eq!(storage.damage(3), Some(kind));
    };
    expect(&old, Damage::Stale);
    expect(&other, Damage::Misplaced);
    expect(&[0; BLOCK], Damage::Zeroed);
    let torn = [&new[..1024], &old[1024..]].concat();
    expect(&torn, Damage::Torn);
    let torn = [&new[..1024], &[0; BLOCK][1024..]].concat();
    expect(&torn, Damage::Torn);
    let torn = [&old[..512], &new[512..]].concat();
    expect(&torn, Damage::Torn);
    expect(&[0x33; BLOCK], Damage::Flipped);
}

/// Every bit with the default format, and some bits with all methods and header positions.
#[test]
fn every_flipped_bit_is_detected() {
    check_flipped_bits(Storage::new(), 1);
    for method in &VerifyMethod::ALL[1..] {
        check_flipped_bits(Storage::with(*method, 0), 61);
        if *method != VerifyMethod::Pattern {
            check_flipped_bits(Storage::with(*method, 1000), 61);
        }
    }
}

fn check_flipped_bits(mut storage: Storage, step: usize) {
    let good = storage.write(3);
    let method = storage.format.method;
    assert_eq!(storage.damage(3), None, "{method:?}");
    for bit in (0..BLOCK * 8).step_by(step) {
        let mut data = good.clone();
        data[bit / 8] ^= 1 << (bit % 8);
        storage.put(3, &data);
        assert_eq!(storage.damage(3), Some(Damage::Flipped), "{method:?} {bit}");
    }
}

#[test]
fn damage_is_classified_with_every_method() {
    for method in &VerifyMethod::ALL[1..] {
        for header_offset in [0, 1000] {
            if *method == VerifyMethod::Pattern && header_offset > 0 {
                continue;
            }
            let mut storage = Storage::with(*method, header_offset);
            let old = storage.write(3);
            let new = storage.write(3);
            let other = storage.write(4);
            let mut expect = |data: &[u8], kind: Option<Damage>| {
                storage.put(3, data);
                assert_eq!(storage.damage(3), kind, "{method:?}, {header_offset}");
            };
            expect(&new, None);
            expect(&other, Some(Damage::Misplaced));
            expect(&[0; BLOCK], Some(Damage::Zeroed));
            let torn = [&new[..2048], &[0; BLOCK][2048..]].concat();
            expect(&torn, Some(Damage::Torn));
            // All writes of a pattern contain the same data.
            let stale = (*method != VerifyMethod::Pattern).then_some(Damage::Stale);
            expect(&old, stale);
        }
    }
}

#[test]
fn blocks_written_with_another_method_are_damaged() {
    let mut md5 = Storage::with(VerifyMethod::Md5, 0);
    let data = md5.write(3);
    let crc = Storage::new();
    let checked = check(&crc.format, &data, 3 * BLOCK as u64, Expected::AnyWrite);
    let finding = checked.unwrap_err();
    assert_eq!(
        finding.detail,
        "The block was written with verify=md5, not crc32c."
    );
}

#[test]
fn concurrent_writes_may_complete_in_any_order() {
    let mut storage = Storage::new();
    let old = storage.write(5);
    let (first, first_data) = storage.begin(5);
    let (second, second_data) = storage.begin(5);
    assert_eq!(storage.written.state(0, 5), BlockState::Unknown);
    storage.written.complete(&second);
    assert_eq!(storage.written.state(0, 5), BlockState::Unknown);
    storage.written.complete(&first);
    for data in [&first_data, &second_data] {
        storage.put(5, data);
        assert_eq!(storage.damage(5), None);
    }
    storage.write(5);
    storage.put(5, &old);
    assert_eq!(storage.damage(5), Some(Damage::Stale));
}

#[test]
fn blocks_from_other_runs_are_stale() {
    let mut other = Storage::new();
    let job = job(VerifyMethod::Crc32c, 0);
    let options = job.data.verify.expect("verify");
    other.written = WrittenBlocks::new(&job, &options, 0, 2);
    let data = other.write(3);
    let mut storage = Storage::new();
    storage.write(3);
    storage.put(3, &data);
    assert_eq!(storage.damage(3), Some(Damage::Stale));
    let checked = check(&storage.format, &data, 3 * BLOCK as u64, Expected::AnyWrite);
    assert_eq!(checked, Ok(()));
}
