//! The Merkle tree over the ledger (RFC 6962, section 2.1).
//!
//! Invariant: the tree is over `salt ‖ bytes` as they are stored, never over a
//! form made again from them.

use crate::digest::{Digest, Hasher};

/// Returns the leaf of an event: the hash of the entry `salt ‖ bytes`.
pub fn leaf(salt: &[u8], bytes: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], salt, bytes])
}

fn node(left: Digest, right: Digest) -> Digest {
    Digest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The right edge of a tree: the roots of its perfect subtrees, largest first.
/// It is all that is needed to append and to compute the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edge {
    size: u64,
    /// As many as `size` has one bits.
    roots: Vec<Digest>,
}

/// Why bytes are not the edge of a tree of that size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tree of {size} leaves has {expected} roots at its edge, found {found}")]
pub struct EdgeError {
    /// The leaves.
    pub size: u64,
    /// The roots that it must have.
    pub expected: u32,
    /// The roots that it has.
    pub found: usize,
}

impl Edge {
    /// Restores an edge.
    pub fn new(size: u64, roots: Vec<Digest>) -> Result<Self, EdgeError> {
        let expected = size.count_ones();
        if usize::try_from(expected).ok() == Some(roots.len()) {
            Ok(Self { size, roots })
        } else {
            Err(EdgeError {
                size,
                expected,
                found: roots.len(),
            })
        }
    }

    /// Returns the number of leaves.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the roots of the perfect subtrees, largest first.
    pub fn roots(&self) -> &[Digest] {
        &self.roots
    }

    /// Adds a leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut root = leaf;
        // Each one bit at the low end of the size is a perfect subtree that the
        // new leaf completes to the next larger one.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.roots.pop() {
                root = node(left, root);
            }
        }
        self.roots.push(root);
        self.size += 1;
    }

    /// Returns the root of the tree; for no leaves, the hash of nothing.
    pub fn root(&self) -> Digest {
        let mut roots = self.roots.iter().rev().copied();
        let Some(last) = roots.next() else {
            return Hasher::default().finish();
        };
        roots.fold(last, |right, left| node(left, right))
    }
}

#[cfg(test)]
mod tests {
    use ct_merkle::mem_backed_tree::MemoryBackedTree;
    use proptest::prelude::*;

    use super::*;

    /// The inputs and roots of the reference test vectors of Certificate
    /// Transparency (RFC 6962), for sizes 0 to 8.
    const INPUTS: [&str; 8] = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ];
    const ROOTS: [&str; 9] = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex
            .chars()
            .map(|digit| digit.to_digit(16).unwrap())
            .collect();
        digits
            .chunks(2)
            .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
            .collect()
    }

    #[test]
    fn roots_equal_the_reference_vectors_of_rfc_6962() {
        let mut edge = Edge::default();
        for (size, root) in ROOTS.iter().enumerate() {
            assert_eq!(edge.root().to_hex(), *root, "{size} leaves");
            if let Some(input) = INPUTS.get(size) {
                edge.push(leaf(&[], &bytes(input)));
            }
        }
    }

    #[test]
    fn an_edge_with_a_root_too_few_is_refused() {
        let error = EdgeError {
            size: 3,
            expected: 2,
            found: 1,
        };
        assert_eq!(Edge::new(3, vec![Digest::of(b"")]), Err(error));
    }

    proptest! {
        #[test]
        fn roots_equal_those_of_an_independent_tree(
            entries in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 1..200),
        ) {
            let mut edge = Edge::default();
            let mut other = MemoryBackedTree::<sha2::Sha256, Vec<u8>>::new();
            for entry in entries {
                edge.push(leaf(&[], &entry));
                other.push(entry);
                let theirs = other.root().as_bytes().to_vec();
                prop_assert_eq!(edge.root().as_bytes().to_vec(), theirs);
            }
            let restored = Edge::new(edge.size(), edge.roots().to_vec()).unwrap();
            prop_assert_eq!(restored.root(), edge.root());
        }
    }
}
