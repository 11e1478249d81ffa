const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Begins an id that is written shorter; another text that begins with it has it twice. */
const MARK = '#';

/** The short forms of recent ids: most ids of an event are those of the event before it. */
const recent = new Map<string, string>();
const MAX_RECENT = 2_048;

/** An id for a text that is kept: a UUID in 23 characters, and any other as it is. */
export function shortId(id: string): string {
  const known = recent.get(id);
  if (known !== undefined) return known;
  if (!UUID.test(id)) return id.startsWith(MARK) ? MARK + id : id;
  const short = MARK + bytesOf(id).toString('base64url');
  if (recent.size >= MAX_RECENT) recent.clear();
  recent.set(id, short);
  return short;
}

/** The id of such a text. */
export function longId(short: string): string {
  if (!short.startsWith(MARK)) return short;
  if (short.startsWith(MARK + MARK)) return short.slice(1);
  const hex = Buffer.from(short.slice(1), 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** An id for a column of any type: the bytes of a UUID, and any other text as it is. */
export function idColumn(id: string): Uint8Array | string {
  return UUID.test(id) ? bytesOf(id) : id;
}

/** Whether an id is a UUID in its usual form. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
