/** Something that counts toward a limit until it is released; releasing is idempotent. */
export interface Reservation {
  release(): void;
}

/** @param release is called once */
export function reservation(release: () => void): Reservation {
  let isHeld = true;
  return {
    release() {
      if (isHeld) release();
      isHeld = false;
    },
  };
}
