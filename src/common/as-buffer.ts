/** Views bytes as a Buffer; a Buffer that crosses from a worker arrives as a Uint8Array. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
