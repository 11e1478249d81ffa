const IN = 'packages/protocol/src/line-patch';
const [PLAN, PIECES, TEXT, CURSOR] = ['plan', 'piece-list', 'text', 'line-cursor'].map(
  (name) => `${IN}/${name}.ts`,
);
const [LAYOUT, CHANGE, CHANGES] = ['layout', 'parse-change', 'parse-changes'].map(
  (name) => `${IN}/${name}.ts`,
);
const [LINES, FILE, BATCH] = ['parse-lines', 'parse-file', 'parse-batch'].map((name) => `${IN}/${name}.ts`);
const [MISMATCH, FINDER, FAULT] = ['mismatch', 'block-finder', 'faults'].map((name) => `${IN}/${name}.ts`);
const [INVERT, DIFFED, IDS] = ['invert', 'diff-to-patch', 'line-ids'].map((name) => `${IN}/${name}.ts`);
const [EQUAL, MYERS, UNIFIED] = ['equal-lines', 'myers', 'unified-diff'].map((name) => `${IN}/${name}.ts`);

const APPLIES = `${IN}/apply.spec.ts`;
const PROPERTIES = `${IN}/properties.spec.ts`;
const PARSES = `${IN}/parse-batch.spec.ts`;
const PARSES_CHANGES = `${IN}/parse-batch-changes.spec.ts`;
const PARSES_SCHEMA = `${IN}/parse-batch-schema.spec.ts`;
const SEEKS = `${IN}/line-cursor.spec.ts`;
const FAULTY = `${IN}/faults.spec.ts`;
const INVERTS = `${IN}/invert.spec.ts`;
const DIFFS = `${IN}/unified-diff.spec.ts`;
const DIFFS_ALL = `${IN}/unified-diff.properties.spec.ts`;
const NUMBERS = `${IN}/line-ids.spec.ts`;
const COMPARES = `${IN}/myers.spec.ts`;

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'lines that are not what was expected are overwritten',
    file: PLAN,
    find: `if (firstWrong < 0 && text !== change.expectedOriginalLines[index]) firstWrong = index;`,
    replace: ``,
    specs: [APPLIES],
  },
  {
    name: 'only the first of the expected lines is held against the file',
    file: PLAN,
    find: `if (firstWrong < 0 && text !== change`,
    replace: `if (index === 0 && text !== change`,
    specs: [APPLIES, FAULTY, PROPERTIES],
  },
  {
    name: 'a line that differs only in blanks at its end is taken for the expected one',
    file: PLAN,
    find: `text !== change.expectedOriginalLines[index]`,
    replace: `text.trimEnd() !== change.expectedOriginalLines[index]?.trimEnd()`,
    specs: [APPLIES, FAULTY, PROPERTIES],
  },
  {
    name: 'a range that begins in the file and ends behind it is applied',
    file: PLAN,
    find: `      if (!cursor.seek(line)) return this.beyondEnd(placed, change.endLine);`,
    replace: `      if (!cursor.seek(line)) break;`,
    specs: [APPLIES],
  },
  {
    name: 'an insert behind the end goes to the end',
    file: PLAN,
    find: `    if (!cursor.seek(change.afterLine)) return this.beyondEnd(placed, change.afterLine);`,
    replace: `    cursor.seek(change.afterLine);`,
    specs: [APPLIES],
  },
  {
    name: 'a file is patched that is no text',
    file: PLAN,
    find: `  if (reason !== null) {`,
    replace: `  if (reason === '') {`,
    specs: [APPLIES],
  },
  {
    name: 'a patch that changes nothing counts as applied',
    file: PLAN,
    find: `    else if (pieces.isOriginal()) this.reportNoChange();`,
    replace: ``,
    specs: [APPLIES],
  },
  {
    name: 'a new first line begins with a byte order mark that the file did not have',
    file: PLAN,
    find: `    if (start === 0 && bomLength(pieces.head()) > 0) this.reportNewBom();
    else if`,
    replace: `    if`,
    specs: [APPLIES, INVERTS, PROPERTIES],
  },
  {
    name: 'the place of later changes does not count what the earlier ones added',
    file: PLAN,
    find: `      this.shift += planned.resultCount - planned.endings.length;`,
    replace: ``,
    specs: [INVERTS, PROPERTIES],
  },
  {
    name: 'a new line takes LF in a file of CRLF',
    file: PLAN,
    find: `endings[index] || cursor.nearEnding()`,
    replace: `'\\n'`,
    specs: [APPLIES],
  },
  {
    name: 'the exact endings of a revert are not kept',
    file: PLAN,
    find: `    const exact = change.newEndings;`,
    replace: `    const exact: typeof change.newEndings = undefined;`,
    specs: [INVERTS],
  },
  {
    name: 'the last line is glued to what is appended',
    file: PIECES,
    find: `    this.owed = last === CR ? '\\r\\n' : near();
    return true;`,
    replace: `    return true;`,
    specs: [APPLIES],
  },
  {
    name: 'a file without an ending at its end gets one',
    file: PIECES,
    find: `    const strip = !lastHadEnding && this.ruled > 0;`,
    replace: `    const strip = false;`,
    specs: [APPLIES],
  },
  {
    name: 'a file with an ending at its end loses it',
    file: PIECES,
    find: `!lastHadEnding && this.ruled > 0`,
    replace: `this.ruled > 0`,
    specs: [APPLIES],
  },
  {
    name: 'a line that ends with a carriage return swallows it',
    file: PIECES,
    find: `      if (ending === '\\n' && line.endsWith('\\r')) ending = '\\r\\n';`,
    replace: ``,
    specs: [APPLIES, PROPERTIES, INVERTS],
  },
  {
    name: 'removed lines stay',
    file: PIECES,
    find: `    this.taken = to;
  }

  /** Adds`,
    replace: `  }

  /** Adds`,
    specs: [APPLIES],
  },
  {
    name: 'a result that only has as many bytes as the original is taken for it',
    file: PIECES,
    find: `      if (part.compare(this.original, at, at + part.length) !== 0) return false;`,
    replace: ``,
    specs: [APPLIES, PROPERTIES],
  },
  {
    name: 'the mark at the top of a file counts as text of line 1',
    file: TEXT,
    find: `bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0`,
    replace: `bytes.length < 0 ? 3 : 0`,
    specs: [APPLIES],
  },
  {
    name: 'a file with a NUL byte is patched',
    file: TEXT,
    find: `  const nul = bytes.indexOf(0);`,
    replace: `  const nul = -1;`,
    specs: [APPLIES],
  },
  {
    name: 'CRLF is read as LF, and the line as one with a carriage return',
    file: TEXT,
    find: `at > start && bytes[at - 1] === CR ? '\\r\\n' : '\\n'`,
    replace: `'\\n'`,
    specs: [APPLIES],
  },
  {
    name: 'a last line without an ending does not count',
    file: CURSOR,
    find: `this.offset > this.start && this.bytes[this.offset - 1] !== LF ? 1 : 0`,
    replace: `false ? 1 : 0`,
    specs: [APPLIES],
  },
  {
    name: 'lines are counted wrong where a block holds just as many as are wanted',
    file: CURSOR,
    find: `      if (passed + feeds >= most) break;`,
    replace: `      if (passed + feeds > most) break;`,
    specs: [SEEKS],
  },
  {
    name: 'lines are counted wrong in a word that holds just as many as are wanted',
    file: CURSOR,
    find: `        if (feeds >= left) break;`,
    replace: `        if (feeds > left) break;`,
    specs: [APPLIES],
  },
  {
    name: 'a text that does not begin at a word is counted wrong',
    file: CURSOR,
    find: `((base + at) & 3) !== 0`,
    replace: `(at & 3) !== 0`,
    specs: [APPLIES, PROPERTIES],
  },
  {
    name: 'an ending is remembered for another place',
    file: CURSOR,
    find: `    if (this.nearAt === this.offset) return this.near;`,
    replace: `    if (this.nearAt >= 0) return this.near;`,
    specs: [APPLIES, PROPERTIES],
  },
  {
    name: 'an insert behind a range acts before it',
    file: LAYOUT,
    find: `(change.operation === 'insert' ? 1 : 0)`,
    replace: `(change.operation === 'insert' ? -1 : 0)`,
    specs: [APPLIES, PARSES_CHANGES],
  },
  {
    name: 'two ranges that share a line are taken',
    file: LAYOUT,
    find: `change.startLine <= rangeEnd;`,
    replace: `change.startLine < rangeEnd;`,
    specs: [PARSES_CHANGES],
  },
  {
    name: 'an insert right behind a range is refused',
    file: LAYOUT,
    find: `change.afterLine < rangeEnd`,
    replace: `change.afterLine <= rangeEnd`,
    specs: [PARSES_CHANGES, APPLIES],
  },
  {
    name: 'a short range inside a long one hides what overlaps behind it',
    file: LAYOUT,
    find: `    if (change.operation !== 'insert' && change.endLine > rangeEnd) {`,
    replace: `    if (change.operation !== 'insert') {`,
    specs: [PARSES_CHANGES],
  },
  {
    name: 'changes in another order than that of the file are taken',
    file: CHANGES,
    find: `  checkOrder(placed, order, at);`,
    replace: ``,
    specs: [PARSES_CHANGES],
  },
  {
    name: 'changes that overlap are taken',
    file: CHANGES,
    find: `  checkOverlap(ordered, overlap, at);`,
    replace: ``,
    specs: [PARSES_CHANGES],
  },
  {
    name: 'a model can send endings, which only a revert may',
    file: CHANGE,
    find: `if (name === 'newEndings') return !trusted || operation === 'delete';`,
    replace: `if (name === 'newEndings') return operation === 'delete';`,
    specs: [PARSES_SCHEMA, PARSES_CHANGES],
  },
  {
    name: 'a model gives the ids of its changes',
    file: CHANGE,
    find: `changeId: trusted ? changeId : null`,
    replace: `changeId`,
    specs: [PARSES, PARSES_SCHEMA],
  },
  {
    name: 'a range has other lines expected than it has lines',
    file: CHANGE,
    find: `expected.length !== count && Array`,
    replace: `expected.length > count && Array`,
    specs: [PARSES_CHANGES],
  },
  {
    name: 'a line feed inside of a line makes two of it',
    file: LINES,
    find: `  if (line.includes('\\n')) return true;`,
    replace: ``,
    specs: [PARSES_CHANGES, PARSES_SCHEMA],
  },
  {
    name: 'a carriage return inside of a new line is taken from a model',
    file: LINES,
    find: `  return field === 'newLines' ? line.includes('\\r') : line.endsWith('\\r');`,
    replace: `  return line.endsWith('\\r');`,
    specs: [PARSES_CHANGES, PARSES_SCHEMA],
  },
  {
    name: 'half of a surrogate pair becomes another character',
    file: LINES,
    find: `line.includes('\\0') || LONE_SURROGATE.test(line)`,
    replace: `line.includes('\\0')`,
    specs: [PARSES_CHANGES, PARSES_SCHEMA],
  },
  {
    name: 'an exact LF behind a carriage return reads as CRLF',
    file: LINES,
    find: ` ||
      // With LF the pair would read as CRLF, and the line would lose its last character.
      (item === '\\n' && lines[at]?.endsWith('\\r'))`,
    replace: ``,
    specs: [PARSES, PARSES_CHANGES, PROPERTIES],
  },
  {
    name: 'a batch names a file twice',
    file: FILE,
    find: `  const other = seen.get(identity);`,
    replace: `  const other = undefined as number | undefined;`,
    specs: [PARSES_SCHEMA],
  },
  {
    name: 'a batch names a file twice, in two spellings',
    file: FILE,
    find: `fault === null ? docPath : toDocPath(docPath)`,
    replace: `docPath`,
    specs: [PARSES, PARSES_SCHEMA],
  },
  {
    name: 'a sha256 in capitals never matches',
    file: FILE,
    find: `return sha.toLowerCase();`,
    replace: `return sha;`,
    specs: [PARSES],
  },
  {
    name: 'a batch of one file more than may be is read',
    file: BATCH,
    find: `value.length > settings.maxFiles`,
    replace: `value.length > settings.maxFiles + 1`,
    specs: [PARSES, PARSES_SCHEMA],
  },
  {
    name: 'a batch of one change more than may be is read',
    file: BATCH,
    find: `changes > settings.maxChanges`,
    replace: `changes > settings.maxChanges + 1`,
    specs: [PARSES, PARSES_SCHEMA],
  },
  {
    name: 'a batch with faults is taken',
    file: BATCH,
    find: `  if (faults.count > 0) return { ok: false, ...faults.result() };
  const batch`,
    replace: `  const batch`,
    specs: [PARSES],
  },
  {
    name: 'a model gives the id of its batch',
    file: BATCH,
    find: `if (settings.trusted && batchId !== null)`,
    replace: `if (batchId !== null)`,
    specs: [PARSES],
  },
  {
    name: 'a block that is there twice is said to be at its first place',
    file: FINDER,
    find: `      } else if (found !== null) return null;
      else found = first + 1;`,
    replace: `      } else found ??= first + 1;`,
    specs: [FAULTY, APPLIES],
  },
  {
    name: 'lines of one hash are taken for the block that is looked for',
    file: FINDER,
    find: `      if (!this.holds(block, first)) {`,
    replace: `      if (block.length === 0) {`,
    specs: [FAULTY, APPLIES],
  },
  {
    name: 'the lines that are shown are numbered from another line',
    file: MISMATCH,
    find: `line: startLine + from + index`,
    replace: `line: startLine + index`,
    specs: [FAULTY, APPLIES],
  },
  {
    name: 'more lines are shown than a message has room for',
    file: MISMATCH,
    find: `|| cost > left) return false;`,
    replace: `) return false;`,
    specs: [FAULTY, APPLIES, 'packages/workspace/src/write-patch/execute-write-patch-refused.spec.ts'],
  },
  {
    name: 'a report of faults is larger than a message may be',
    file: FAULT,
    find: `length >= MAX_REPORTED_FAULTS || this.bytes >= MAX_REPORTED_BYTES`,
    replace: `length >= MAX_REPORTED_FAULTS`,
    specs: [FAULTY],
  },
  {
    name: 'faults that are not shown are not counted',
    file: FAULT,
    find: `    this.total += 1;
    if (this.isFull()) return;`,
    replace: `    if (this.isFull()) return;
    this.total += 1;`,
    specs: [FAULTY, PARSES],
  },
  {
    name: 'faults of several passes are counted once',
    file: FAULT,
    find: `    this.total += lists.reduce((sum, list) => sum + list.total, 0);`,
    replace: `    this.total += faults.length;`,
    specs: [FAULTY, PARSES, PARSES_CHANGES],
  },
  {
    name: 'a revert leaves the ending that the patch gave the last line',
    file: INVERT,
    find: `  if (planned.extendsLine !== undefined) return takeBackEnding(planned.extendsLine, from, added);`,
    replace: ``,
    specs: [INVERTS, PROPERTIES],
  },
  {
    name: 'a revert gives back other endings than there were',
    file: INVERT,
    find: `restores(plan, plain, before) ? plain : inverse`,
    replace: `restores(plan, plain, before) || true ? plain : inverse`,
    specs: [INVERTS, PROPERTIES],
  },
  {
    name: 'a revert looks for the lines of the patch where they were before it',
    file: INVERT,
    find: `    const from = planned.resultAfter;`,
    replace: `    const from = planned.change.operation === 'insert' ? planned.change.afterLine : planned.change.startLine - 1;`,
    specs: [INVERTS, PROPERTIES],
  },
  {
    name: 'what was edited is said by changes that lead elsewhere',
    file: DIFFED,
    find: `if (changes.length === 0 || leadsTo(original, target, changes)) return`,
    replace: `if (changes.length >= 0) return`,
    specs: [PROPERTIES],
  },
  {
    name: 'lines that end alike count as equal though one of them begins before',
    file: EQUAL,
    find: `    if (!beginsLine(a, a.to - length) || !beginsLine(b, b.to - length)) continue;`,
    replace: `    if (!beginsLine(a, a.to - length)) continue;`,
    specs: [DIFFS, DIFFS_ALL, PROPERTIES],
  },
  {
    name: 'two lines of one hash count as the same',
    file: IDS,
    find: `      if (this.holds(taken - 1, start, length)) return taken - 1;`,
    replace: `      return taken - 1;`,
    specs: [NUMBERS],
  },
  {
    name: 'a diff whose budget is used up leaves out the rest',
    file: MYERS,
    find: `      if (cut === null) return this.add(aFrom, aTo, bFrom, bTo);`,
    replace: `      if (cut === null) return;`,
    specs: [COMPARES],
  },
  {
    name: 'two searches that meet one line too late give wrong lines',
    file: MYERS,
    find: `if (x + other.at(delta - k) >= width)`,
    replace: `if (x + other.at(delta - k) > width)`,
    specs: [COMPARES, DIFFS_ALL],
  },
  {
    name: 'git does not know a diff whose edits share their context',
    file: UNIFIED,
    find: `edit.aStart - last.aEnd <= 2 * CONTEXT`,
    replace: `edit.aStart - last.aEnd < CONTEXT`,
    specs: [DIFFS, DIFFS_ALL],
  },
  {
    name: 'a diff does not say that a last line lacks its ending',
    file: UNIFIED,
    find: '  return isFirst ? text : `${text}\\n\\\\ No newline at end of file\\n`;',
    replace: '  return isFirst ? text : `${text}\\n`;',
    specs: [DIFFS],
  },
  {
    name: 'a file name with a line feed forges lines of a diff',
    file: UNIFIED,
    find: `  if (!special.test(name)) return name;`,
    replace: `  if (name.length >= 0) return name;`,
    specs: [DIFFS, DIFFS_ALL],
  },
];
