//! Frames of a burst, queue by queue: a ring takes those of one queue at a time, in a row.

use arrayvec::ArrayVec;

/// The most frames of a burst: there is one bit for each.
pub const MOST: usize = u64::BITS as usize;

/// Hands frames to `each`, queue by queue: `queues` has the queue of each, of [`MOST`] at the most. Those of a queue come
/// as they came, in a row, to which they are copied once. A queue comes with its first frame: so none of several is
/// always the first to find room.
#[inline(always)]
pub fn by_queue<F: Copy>(frames: &[F], queues: &[u16], mut each: impl FnMut(u16, &[F])) {
    let Some(last) = frames.len().min(MOST).checked_sub(1) else { return };
    let frames = &frames[..=last];
    // One bit for each frame that is left.
    let mut left = u64::MAX >> (MOST - 1 - last);
    while left != 0 {
        let queue = queues[left.trailing_zeros() as usize];
        let mut run = ArrayVec::<_, MOST>::new();
        for (i, frame) in frames.iter().enumerate() {
            if left >> i & 1 == 1 && queues[i] == queue {
                run.push(*frame);
                left &= !(1 << i);
            }
        }
        each(queue, &run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(queues: &[u16]) -> Vec<(u16, Vec<usize>)> {
        let (places, mut found): (Vec<_>, _) = ((0..queues.len()).collect(), Vec::new());
        by_queue(&places, queues, |queue, run| found.push((queue, run.to_vec())));
        found
    }

    #[test]
    fn queues_come_by_their_first_frames_and_frames_as_they_came() {
        assert_eq!(grouped(&[]), []);
        assert_eq!(grouped(&[7, 2, 7, 0, 2]), [(7, vec![0, 2]), (2, vec![1, 4]), (0, vec![3])]);
        let all: Vec<u16> = (0..MOST as u16).collect();
        assert_eq!(grouped(&all), all.iter().map(|q| (*q, vec![usize::from(*q)])).collect::<Vec<_>>());
        assert_eq!(grouped(&[u16::MAX; MOST]), [(u16::MAX, (0..MOST).collect())]);
    }
}
