#!/bin/sh
# Checks a paragraph on standard input: that it is exactly the bytes that are named, and
# that it meets the three criteria. It knows nothing of the program that runs it.
# Exit code 0: all hold. 1: something does not. 2: it cannot be told.
wanted="${1:-$REREAD_ARTIFACT_SHA256}"
copy="$(mktemp)" || exit 2
trap 'rm -f "$copy"' EXIT
cat > "$copy" || exit 2

if command -v sha256sum > /dev/null; then
  found="$(sha256sum < "$copy")"
elif command -v shasum > /dev/null; then
  found="$(shasum -a 256 < "$copy")"
else
  echo "no program here computes SHA-256" >&2
  exit 2
fi
if [ "${found%% *}" != "${wanted#sha256:}" ]; then
  echo "expected the bytes ${wanted#sha256:}, found ${found%% *}"
  exit 1
fi

failed=0
if grep -Eq '[0-9][[:space:]]*%' "$copy"; then
  echo "criterion 0: there is a percentage"
  failed=1
fi
marks="$(grep -o '\[S1\]' "$copy" | wc -l)"
if [ "$marks" -ne 1 ]; then
  echo "criterion 1: expected [S1] once, found it $marks times"
  failed=1
fi
if ! grep -Fq 'They answer most requests without waking the origin.' "$copy"; then
  echo "criterion 2: the sentence is not there"
  failed=1
fi
exit "$failed"
