import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT } from '../../support/processes.js';
import { completionsIn, type Shell } from '../../support/shells.js';
import { describeWith } from '../../support/system-commands.js';

const patchbay = (...args: string[]): string =>
  spawnSync(process.execPath, [CLIENT, ...args], { encoding: 'utf8' }).stdout;

/** What the help lists: the script must know the same. */
const commandsInHelp = (): string[] => {
  const [, list] = /^Commands:\n([^]*?)\n\n/m.exec(patchbay('--help'))!;
  return list!
    .match(/^ {2}[a-z]+/gm)!
    .map((name) => name.trim())
    .sort();
};
const optionsInHelp = (command: string): string[] =>
  patchbay(command, '--help')
    .match(/^ {2}(-h, )?--[a-z-]+/gm)!
    .map((flag) => flag.trim().split(' ').at(-1)!);

describe.each(['bash', 'zsh', 'fish'] as const)('The script of patchbay completion', (shell: Shell) => {
  describeWith(shell, `for ${shell}`, () => {
    let directory: string;
    let script: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'patchbay-completion-'));
      script = join(directory, `script.${shell}`);
      await writeFile(script, patchbay('completion', shell));
      await mkdir(join(directory, 'my project'));
      await writeFile(join(directory, 'my turn.json'), '');
    });
    afterAll(() => rm(directory, { recursive: true }));
    const offered = (line: string) => completionsIn(shell, script, line, directory);

    it('has valid syntax', () => {
      const flags = shell === 'fish' ? '--no-execute' : '-n';
      expect(spawnSync(shell, [flags, script], { encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
    });

    it('completes every command that the help lists', () => {
      expect(offered('patchbay ')).toEqual(expect.arrayContaining(commandsInHelp()));
      expect(offered('patchbay pu')).toEqual(['pull', 'push']);
      expect(offered('patchbay help can')).toEqual(['cancel']);
    });

    it.each(['connect', 'audit'])('completes every option of %s that its help lists', (command) => {
      expect(offered(`patchbay ${command} --`)).toEqual(expect.arrayContaining(optionsInHelp(command)));
    });

    it('completes words, folders and files where the help expects them', () => {
      expect(offered('patchbay audit --success ')).toEqual(['false', 'true']);
      expect(offered('patchbay completion ')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']));
      expect(offered('patchbay approvals --ask mk')).toEqual(['mkdir']);
      const folders = offered('patchbay connect --yes --root my').join(' ');
      expect(folders).toMatch(/my\\? project/);
      expect(folders).not.toContain('turn.json');
      expect(offered('patchbay turn --wait 5 my').join(' ')).toMatch(/my\\? turn\.json/);
      expect(offered('patchbay connect --name m')).toEqual([]);
      expect(offered(`patchbay push --url http${shell === 'bash' ? ' : ' : ':'}//h my`).join(' ')).toMatch(
        /my\\? project/,
      );
    });
  });
});
