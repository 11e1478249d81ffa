/**
 * Faults in code that was written since the first survey, chosen from the source alone by somebody who had not written it
 * and had not seen its tests: whether what comes new is held as firmly as what the other rooms are about.
 */
const SYNC = 'packages/workspace/src/sync';
const CLI = 'packages/cli/src';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'what an editor saves while a pull stages a file is overwritten',
    file: `${SYNC}/place-file.ts`,
    find: 'if (replaced) await expectStill(directory, name, replaces);',
    replace: '',
    specs: [`${SYNC}/place-file.spec.ts`],
  },
  {
    name: 'what a call has made anew meanwhile is deleted in the Cloud by a push that found it gone',
    file: `${SYNC}/push-deletions.ts`,
    find: 'const missing = await notThere(sync.roots, free);',
    replace: 'const missing = free;',
    specs: [`${SYNC}/push-deletions.spec.ts`],
  },
  {
    name: 'what a full disk did not take is never written down',
    file: `${SYNC}/folder-state.ts`,
    find: 'const lines = [...this.unsaved];',
    replace: 'const lines = this.unsaved.splice(0);',
    specs: [`${SYNC}/folder-state.spec.ts`],
  },
  {
    name: 'a Cloud text that the person was not shown is taken over',
    file: `${SYNC}/pull.ts`,
    find: 'if (sync.expects !== undefined && (',
    replace: 'if (sync.expects === null && (',
    specs: [`${SYNC}/pull.spec.ts`],
  },
  {
    name: 'a folder that is empty all at once is deleted in the Cloud',
    file: `${SYNC}/live-folder.ts`,
    find: 'delete: !this.guard.isEmpty,',
    replace: 'delete: true,',
    specs: [`${SYNC}/live-folder.spec.ts`],
    only: 'gone at once',
  },
  {
    name: 'another project in the place of a known one goes on under its identity',
    file: `${CLI}/folder-identity.ts`,
    find: 'isNamed && known.inode !== undefined && !isSameFolder(',
    replace: 'isNamed && known.inode === undefined && !isSameFolder(',
    specs: ['test/e2e/folder/nothing-missed.spec.ts'],
    only: 'put in its place',
    build: true,
  },
  {
    name: 'a call of which one path matches a rule is let through with all of them',
    file: `${CLI}/approval/rule-approver.ts`,
    find: 'if (!rule) return null;',
    replace: 'if (!rule) continue;',
    specs: [`${CLI}/approval/rule-approver.spec.ts`],
  },
  {
    name: 'a connect --push sends what a killed client has left half done',
    file: `${CLI}/connect-command.ts`,
    find: '      await relay.settle();\n',
    replace: '',
    specs: ['test/e2e/folder/nothing-missed.spec.ts'],
    only: 'half written',
    build: true,
  },
  {
    name: 'a backup is restored under the running server',
    file: 'src/storage/sqlite/backups.ts',
    find: 'const lock = DataLock.take(directory);',
    replace: 'const lock = { release: () => {} };',
    specs: ['test/e2e/backup.spec.ts'],
    only: 'restores nothing under a running server',
    build: true,
  },
  {
    name: 'a trail whose first events are gone is found whole',
    file: 'src/storage/check/check-records.ts',
    find: '[current, next] = [workspaceId, 1];',
    replace: '[current, next] = [workspaceId, seq];',
    specs: ['test/e2e/admin-check.spec.ts'],
    only: 'names audit events that are missing at the beginning',
    build: true,
  },
  {
    name: 'two who claim one name at two nodes both believe that they have it',
    file: 'src/clients/roots.service.ts',
    find: 'await this.requireSame(root, await this.store.claim(root));',
    replace: 'await this.store.claim(root);',
    specs: ['test/e2e/roots.spec.ts'],
    only: 'another node at the same time',
  },
  {
    name: 'a file that the person rejects as a whole is written',
    file: `${CLI}/approval/choose-changes.ts`,
    find: 'if (ofFile === NONE) rejected.push(',
    replace: 'if (ofFile === BACK) rejected.push(',
    specs: [`${CLI}/approval/terminal-approver.spec.ts`],
    only: 'accepted or rejected',
  },
  {
    name: 'two pushes of one folder go on at once',
    file: `${CLI}/sync-command.ts`,
    find: 'return state.alone(roots.all[0]!.directory, () =>\n    WORK[verb]({ files: workspace.files, roots, state, ...how }),\n  );',
    replace: 'return WORK[verb]({ files: workspace.files, roots, state, ...how });',
    specs: ['test/e2e/push-pull-interrupted.spec.ts'],
    only: 'keeps a second push',
  },
];
