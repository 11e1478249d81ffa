import type { ClientPresence } from '@patchbay/protocol';
import { type ComparedFile, countText, type Finding } from '@patchbay/workspace/sync';
import { wrapWords } from './approval/fit.js';
import { printableLine } from './approval/printable.js';
import { callText, type ClientNames, namesOf, durationText, waitText } from './call-wait.js';
import type { Status } from './status.js';
import { describeWorkspace, ownerText } from './workspace-owner.js';

const LABEL_WIDTH = 11;
/** Most entries per list of files, disconnected clients, and calls of a turn. */
const MAX_LISTED = 5;

/** A status for a person; safe to print. `directory` is the folder in question, `columns` the width of a line. */
export function statusText(
  status: Status,
  directory: string,
  { person, columns = Infinity, now = Date.now() }: { person: string; columns?: number; now?: number },
): string {
  const { server, user, workspace, clients } = status;
  const whose = ownerText(workspace, user.id);
  const described = describeWorkspace(workspace, whose);
  const parts: [label: string, lines: string[]][] = [
    ['Server', [`${printableLine(server)}, as ${printableLine(person)}`]],
    ['Workspace', [`${described}${whose === null ? ', yours' : ''}`]],
    ['Clients', clientLines(clients, now)],
    ['Open', turnLines(status, namesOf(clients), now)],
    ['Folder', folderLines(status, directory)],
  ];
  return parts.flatMap(([label, lines]) => labelled(label, lines, columns)).join('\n');
}

function labelled(label: string, lines: readonly string[], columns: number): string[] {
  const rows = wrapWords(lines.join('\n'), columns - LABEL_WIDTH).split('\n');
  return rows.map((row, at) => (at === 0 ? label : '').padEnd(LABEL_WIDTH) + row);
}

function clientLines(clients: readonly ClientPresence[], now: number): string[] {
  if (clients.length === 0) return ['none was ever connected: run "patchbay connect" in a project folder'];
  const here = clients.filter(({ connected }) => connected);
  const gone = clients.filter(({ connected }) => !connected);
  const line = ({ name, roots, connected, since }: ClientPresence) => {
    const span = durationText(Math.max(0, now - Date.parse(since)));
    const folders = roots.length === 0 ? '' : `, with ${roots.map(printableLine).join(', ')}`;
    const when = connected ? `connected for ${span}` : `not connected, last seen ${span} ago`;
    return `"${printableLine(name)}"${folders}: ${when}`;
  };
  return [
    ...(here.length === 0 ? ['none is connected: calls for a client wait'] : here.map(line)),
    ...gone.slice(0, MAX_LISTED).map(line),
    ...(gone.length > MAX_LISTED ? [`and ${gone.length - MAX_LISTED} more that are not connected`] : []),
  ];
}

function turnLines({ turns, moreTurns, othersTurns }: Status, names: ClientNames, now: number): string[] {
  const own = turns.flatMap(({ turnId, acceptedAt, calls }) => [
    `turn ${printableLine(turnId)}, posted ${durationText(Math.max(0, now - Date.parse(acceptedAt)))} ago`,
    ...calls.slice(0, MAX_LISTED).map((call) => `  ${callText(call)} ${waitText(call, names, now)}`),
    ...(calls.length > MAX_LISTED ? [`  and ${calls.length - MAX_LISTED} more calls`] : []),
  ]);
  const others = othersTurns
    ? [`${countText(othersTurns)} ${othersTurns === 1 ? 'turn' : 'turns'} of other members`]
    : [];
  const lines = [...own, ...(moreTurns ? ['and more of your turns'] : []), ...others];
  return lines.length > 0 ? lines : ['nothing'];
}

function folderLines({ folder }: Status, directory: string): string[] {
  if (folder === null) {
    return [
      `${printableLine(directory)} was never synced with this workspace:`,
      '"patchbay push" sends its files, "patchbay connect" connects it',
    ];
  }
  const head = printableLine(`${folder.directory} is "${folder.name}" in the Cloud`);
  if ('fault' in folder)
    return [head, printableLine(`could not be compared with the Cloud: ${folder.fault}`)];
  const { here, inCloud, conflicts, unsent, faults } = folder;
  const kinds: [readonly (Finding | ComparedFile)[], string][] = [
    [here, 'changed here; "patchbay push" sends it'],
    [inCloud, 'changed in the Cloud; "patchbay pull" brings it'],
    [
      conflicts,
      'changed on both sides; "patchbay push --force" or "pull --force" decides, and keeps the other version',
    ],
    [unsent, 'differ from the Cloud, and cannot be sent'],
    [faults, 'could not be compared'],
  ];
  const lines = kinds.flatMap(([findings, words]) => findingLines(findings, words));
  return lines.length > 0 ? [head, ...lines] : [`${head}, without differences`];
}

function findingLines(findings: readonly (Finding | ComparedFile)[], words: string): string[] {
  if (findings.length === 0) return [];
  const named = findings
    .slice(0, MAX_LISTED)
    .map((one) => printableLine(`  ${one.path} (${'change' in one ? one.change : one.reason})`));
  const more = findings.length - named.length;
  return [
    `${countText(findings.length)} ${words}:`,
    ...named,
    ...(more > 0 ? [`  and ${countText(more)} more`] : []),
  ];
}
