"""Leaves, the tree's edge and its root (docs/format.md section 3, RFC 6962)."""

import hashlib


def leaf(salt, data):
    """Returns the leaf of an entry."""
    return hashlib.sha256(b"\x00" + salt + data).digest()


def node(left, right):
    """Returns the node over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Edge:
    """The roots of the perfect subtrees at the right edge, largest first."""

    def __init__(self):
        self.size = 0
        self.roots = []

    def append(self, new):
        """Adds a leaf."""
        size = self.size
        while size & 1:
            new = node(self.roots.pop(), new)
            size >>= 1
        self.roots.append(new)
        self.size += 1

    def bytes(self):
        """Returns the edge as the table `tree` keeps it."""
        return b"".join(self.roots)

    def root(self):
        """Returns the root of the whole tree."""
        if not self.roots:
            return hashlib.sha256(b"").digest()
        root = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            root = node(left, root)
        return root


def over(leaves):
    """Returns the edge over these leaves."""
    edge = Edge()
    for one in leaves:
        edge.append(one)
    return edge
