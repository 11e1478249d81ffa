/** Something that is held of a limit until it is released; to release it again does nothing. */
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
