//! What is put is what is read.

use model::Digest;
use model::bounds::BODY_BYTES_MAX;
use proptest::prelude::*;

use super::support::fixture;
use crate::artifacts::{ArtifactError, Artifacts, VerifiedBytes};

#[test]
fn bytes_of_any_size_are_read_as_they_were_put() {
    let large: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
    for bytes in [b"".as_slice(), b"a", b"\0\xff\r\n{}", &large] {
        let fixture = fixture();
        assert_eq!(fixture.artifacts.put(bytes).unwrap(), Digest::of(bytes));
        fixture.check(&[bytes]);
    }
}

#[test]
fn the_largest_body_can_be_put_and_read() {
    let fixture = fixture();
    let bytes = vec![7; BODY_BYTES_MAX];
    let digest = fixture.artifacts.put(&bytes).unwrap();
    assert_eq!(fixture.artifacts.check(digest).unwrap(), 64 << 20);
    assert_eq!(fixture.artifacts.get(digest).unwrap().as_slice(), bytes);
}

#[test]
fn bytes_that_could_not_be_read_again_are_refused_and_none_of_their_group_is_put() {
    let fixture = fixture();
    let large = vec![7; BODY_BYTES_MAX + 1];
    for error in [
        fixture.artifacts.put(&large).unwrap_err(),
        fixture.artifacts.put_all(&[b"small", &large]).unwrap_err(),
    ] {
        let ArtifactError::TooLarge { digest, found } = &error else {
            panic!("expected too many bytes, found {error}")
        };
        assert_eq!((*digest, *found), (Digest::of(&large), (64 << 20) + 1));
        let text =
            format!("artifact {digest} has 67108865 bytes, but at most 67108864 are allowed");
        assert_eq!(error.to_string(), text);
    }
    fixture.check(&[]);
}

#[test]
fn the_file_is_the_bytes_under_their_hash() {
    let fixture = fixture();
    fixture.artifacts.put(b"abc").unwrap();
    let path = fixture
        .root()
        .join("sha256/ba/7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(std::fs::read(path).unwrap(), b"abc");
}

#[test]
fn the_same_bytes_are_kept_once() {
    let fixture = fixture();
    let first = fixture.artifacts.put(b"abc").unwrap();
    let inode = |bytes: &[u8]| {
        use std::os::unix::fs::MetadataExt as _;
        fixture.path(bytes).metadata().unwrap().ino()
    };
    let before = inode(b"abc");
    assert_eq!(fixture.artifacts.put(b"abc").unwrap(), first);
    assert_eq!(
        fixture.artifacts.put_all(&[b"abc", b"abc"]).unwrap(),
        [first, first]
    );
    assert_eq!(inode(b"abc"), before);
    fixture.check(&[b"abc"]);
}

#[test]
fn a_group_is_named_in_its_order_with_its_duplicates() {
    let fixture = fixture();
    let bodies: Vec<Vec<u8>> = (0..40_u8).map(|number| vec![number % 25; 100]).collect();
    let group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    let expected: Vec<_> = group.iter().map(|bytes| Digest::of(bytes)).collect();
    assert_eq!(fixture.artifacts.put_all(&group).unwrap(), expected);
    fixture.check(&group);
    assert_eq!(fixture.files().len(), 25);
}

#[test]
fn an_empty_group_puts_nothing() {
    let fixture = fixture();
    assert_eq!(fixture.artifacts.put_all(&[]).unwrap(), []);
    fixture.check(&[]);
}

#[test]
fn what_was_put_is_there_after_reopening() {
    let fixture = fixture();
    let digest = fixture.artifacts.put(b"abc").unwrap();
    let (reopened, swept) = Artifacts::open(fixture.root()).unwrap();
    assert_eq!(swept, 0);
    assert_eq!(
        reopened.get(digest).unwrap(),
        VerifiedBytes::of(b"abc".to_vec())
    );
    assert_eq!(reopened.get(digest).unwrap().digest(), digest);
}

#[test]
fn what_was_never_put_is_missing() {
    let fixture = fixture();
    let digest = Digest::of(b"abc");
    let missing = |error: ArtifactError| {
        assert!(
            matches!(error, ArtifactError::Missing(named) if named == digest),
            "{error}"
        );
        assert_eq!(error.to_string(), format!("artifact {digest} is missing"));
    };
    missing(fixture.artifacts.get(digest).unwrap_err());
    missing(fixture.artifacts.check(digest).unwrap_err());
    // Now its folder is there, and its file is not.
    fixture.folder_of(b"abc");
    missing(fixture.artifacts.get(digest).unwrap_err());
    missing(fixture.artifacts.check(digest).unwrap_err());
}

#[test]
fn many_threads_may_put_the_same_bytes_at_once() {
    let fixture = fixture();
    let bodies: Vec<Vec<u8>> = (0..30_u8).map(|number| vec![number; 2000]).collect();
    let group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    std::thread::scope(|scope| {
        for start in 0..8 {
            let (artifacts, group) = (fixture.artifacts.clone(), &group);
            scope.spawn(move || {
                for place in 0..group.len() {
                    let bytes = group[(start * 3 + place) % group.len()];
                    assert_eq!(artifacts.put(bytes).unwrap(), Digest::of(bytes));
                    assert_eq!(artifacts.get(Digest::of(bytes)).unwrap().as_slice(), bytes);
                }
            });
        }
    });
    fixture.check(&group);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_bytes_are_read_as_they_were_put(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4000), 0..12),
    ) {
        let fixture = fixture();
        let group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
        fixture.artifacts.put_all(&group).unwrap();
        fixture.check(&group);
        for bytes in &group {
            fixture.artifacts.put(bytes).unwrap();
        }
        fixture.check(&group);
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed(
        mut bytes in prop::collection::vec(any::<u8>(), 1..300),
        place in any::<prop::sample::Index>(), bit in 0..8_u8,
    ) {
        let fixture = fixture();
        let digest = fixture.artifacts.put(&bytes).unwrap();
        let place = place.index(bytes.len());
        let cut = bytes[..place].to_vec();
        bytes[place] ^= 1 << bit;
        for altered in [bytes, cut] {
            std::fs::write(fixture.artifacts.path(digest), &altered).unwrap();
            let get = fixture.artifacts.get(digest).map(drop);
            let check = fixture.artifacts.check(digest).map(drop);
            for refused in [get, check] {
                let Err(ArtifactError::Corrupt { expected, found }) = refused else {
                    panic!("expected other bytes, found {refused:?}")
                };
                prop_assert_eq!((expected, found), (digest, Digest::of(&altered)));
            }
        }
    }
}
