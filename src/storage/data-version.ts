/** The data has another schema version than the one this release opens. The data is left unchanged. */
export class DataVersionError extends Error {
  override readonly name = 'DataVersionError';

  /**
   * @param place where the data is, as the beginning of a sentence
   * @param found its schema version; null if it has none
   * @param empty what to start with instead
   */
  constructor(place: string, found: number | null, known: number, empty: string) {
    const description =
      found === null
        ? `${place} has no schema version of Patchbay: it is another program's, damaged, or from before version 1.`
        : `${place} has schema version ${found}, and this Patchbay opens version ${known} only.`;
    super(
      `${description} Export the data with the release that wrote it and import it here (patchbay-admin export, import), or start with ${empty}.`,
    );
  }
}
