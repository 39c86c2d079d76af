//! What the two ends of a compiling process say to each other.

use std::io::{self, Read, Write};

use model::Digest;

use super::CompileLimits;
use crate::scan::bounds::MODULE_BYTES_MAX;

/// What a job starts with.
const JOB_MAGIC: [u8; 8] = *b"rrjob\x00\x00\x01";

/// What an answer starts with.
const ANSWER_MAGIC: [u8; 8] = *b"rrout\x00\x00\x01";

/// Bytes of an answer before its payload.
pub(super) const ANSWER_HEADER_BYTES: usize = ANSWER_MAGIC.len() + 1 + 8 + 32;

/// What the child says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The code.
    Code(Vec<u8>),
    /// The compiler refuses the module, with its words.
    Refused(String),
    /// The compiler could not have the memory that it asked for.
    Memory,
}

impl Answer {
    const fn status(&self) -> u8 {
        match self {
            Self::Code(_) => 0,
            Self::Refused(_) => 1,
            Self::Memory => 2,
        }
    }

    fn payload(&self) -> &[u8] {
        match self {
            Self::Code(code) => code,
            Self::Refused(words) => words.as_bytes(),
            Self::Memory => &[],
        }
    }

    /// Writes the answer.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let payload = self.payload();
        out.write_all(&ANSWER_MAGIC)?;
        out.write_all(&[self.status()])?;
        out.write_all(&length(payload).to_be_bytes())?;
        out.write_all(Digest::of(payload).as_bytes())?;
        out.write_all(payload)?;
        out.flush()
    }

    /// Reads an answer from all that the child wrote, or says what is wrong
    /// with it.
    pub(super) fn parse(mut bytes: Vec<u8>) -> Result<Self, String> {
        let too_short = || format!("it has {} bytes", bytes.len());
        let header: [u8; ANSWER_HEADER_BYTES] = *bytes.first_chunk().ok_or_else(too_short)?;
        let mut rest = header.as_slice();
        let mut field = |count: usize| {
            let (field, left) = rest.split_at_checked(count).unwrap_or_default();
            rest = left;
            field.to_vec()
        };
        let magic = field(ANSWER_MAGIC.len());
        let status = field(1);
        let stated = field(8);
        let digest = field(32);
        if magic != ANSWER_MAGIC {
            return Err("it does not start as an answer does".to_owned());
        }
        let payload = bytes.split_off(ANSWER_HEADER_BYTES);
        if stated != length(&payload).to_be_bytes() {
            return Err(format!(
                "it holds {} bytes, but states others",
                payload.len()
            ));
        }
        if digest != Digest::of(&payload).as_bytes() {
            return Err("its bytes do not hash to what it states".to_owned());
        }
        match status.as_slice() {
            [0] => Ok(Self::Code(payload)),
            [1] => Ok(Self::Refused(
                String::from_utf8_lossy(&payload).into_owned(),
            )),
            [2] => Ok(Self::Memory),
            _ => Err("its status is unknown".to_owned()),
        }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Writes a job: the limits, and the module.
pub(super) fn write_job(
    out: &mut impl Write,
    limits: &CompileLimits,
    module: &[u8],
) -> io::Result<()> {
    out.write_all(&JOB_MAGIC)?;
    out.write_all(&limits.memory_bytes.to_be_bytes())?;
    out.write_all(&limits.cpu_seconds.to_be_bytes())?;
    out.write_all(&length(module).to_be_bytes())?;
    out.write_all(module)?;
    out.flush()
}

/// The start of a job, which is read before anything large is.
pub(super) struct JobHeader {
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    module_bytes: u64,
}

impl JobHeader {
    /// Reads the start of a job.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut magic = [0; JOB_MAGIC.len()];
        input.read_exact(&mut magic)?;
        if magic != JOB_MAGIC {
            return Err(io::Error::other("the input does not start as a job does"));
        }
        let mut number = || {
            let mut bytes = [0; 8];
            input.read_exact(&mut bytes)?;
            Ok::<_, io::Error>(u64::from_be_bytes(bytes))
        };
        Ok(Self {
            memory_bytes: number()?,
            cpu_seconds: number()?,
            module_bytes: number()?,
        })
    }

    /// Reads the module of the job.
    pub(super) fn read_module(&self, input: &mut impl Read) -> io::Result<Vec<u8>> {
        let expected = usize::try_from(self.module_bytes)
            .ok()
            .filter(|bytes| *bytes <= MODULE_BYTES_MAX)
            .ok_or_else(|| io::Error::other("the module is too large"))?;
        let mut module = vec![0; expected];
        input.read_exact(&mut module)?;
        Ok(module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(answer: &Answer) -> Vec<u8> {
        let mut bytes = Vec::new();
        answer.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        for answer in [
            Answer::Code(vec![1, 2, 3]),
            Answer::Refused("no".to_owned()),
            Answer::Memory,
        ] {
            assert_eq!(Answer::parse(written(&answer)), Ok(answer));
        }
    }

    #[test]
    fn no_altered_or_shortened_answer_is_taken_for_the_same() {
        let answer = Answer::Code(vec![7; 40]);
        let bytes = written(&answer);
        for position in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[position] ^= 1;
            // A changed status is another answer; every other change is none.
            assert_ne!(Answer::parse(altered).as_ref(), Ok(&answer), "{position}");
            let shorter = bytes[..position].to_vec();
            assert!(Answer::parse(shorter).is_err(), "{position}");
        }
    }
}
