/* Notes one base after the other until it is killed, and says which are saved: `node … <home> <name> <round>`. */
import { sha256 } from '@patchbay/protocol/hash';
import { FolderState } from '@patchbay/workspace/sync';

const [home, name, round] = process.argv.slice(2);
const pair = { url: 'http://one', workspaceId: 'w', directory: '/project', rootName: 'project' };
const state = FolderState.open(home, pair);
const own = `${name}${round}`;
for (let n = 1; ; n += 1) {
  state.noteSent(`project/${own}`, sha256(`${own} ${n}`));
  state.noteBase(`project/${own}`, sha256(`${own} ${n}`));
  await state.save();
  process.stdout.write(`${own} ${n}\n`);
}
