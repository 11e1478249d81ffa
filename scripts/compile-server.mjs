// Compiles src into dist, with the Swagger plugin of NestJS: node scripts/compile-server.mjs
//
// The plugin takes the import paths that it writes from the text of TypeScript's types. In that text a path has escapes (é is
// \u00E9), and the plugin decodes a % in it, so in some folders it wrote paths that lead nowhere. Here the compiler
// sees the repository at a path of its own, where neither can happen.
import { realpathSync, rmSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { before as describeDtos } from '@nestjs/swagger/plugin';
import ts from 'typescript';

const ROOT = realpathSync(fileURLToPath(new URL('..', import.meta.url))).replaceAll('\\', '/');
const SEEN_AT = '/patchbay';
const DTO_OPTIONS = {
  introspectComments: true,
  classValidatorShim: true,
  dtoFileNameSuffix: ['.dto.ts'],
  esmCompatible: true,
};

const isIn = (path, folder) => path === folder || path.startsWith(`${folder}/`);
const onDisk = (path) => (isIn(path, SEEN_AT) ? ROOT + path.slice(SEEN_AT.length) : path);
const seen = (path) => (isIn(path, ROOT) ? SEEN_AT + path.slice(ROOT.length) : path);

/** The file system with the repository at SEEN_AT. */
const system = {
  ...ts.sys,
  getCurrentDirectory: () => SEEN_AT,
  getExecutingFilePath: () => seen(ts.sys.getExecutingFilePath()),
  realpath: (path) => seen(ts.sys.realpath(onDisk(path))),
  readDirectory: (path, ...rest) => ts.sys.readDirectory(onDisk(path), ...rest).map(seen),
};
for (const name of [
  'fileExists',
  'readFile',
  'writeFile',
  'directoryExists',
  'createDirectory',
  'getDirectories',
])
  system[name] = (path, ...rest) => ts.sys[name](onDisk(path), ...rest);

const format = {
  getCurrentDirectory: () => SEEN_AT,
  getNewLine: () => '\n',
  getCanonicalFileName: (name) => name,
};
function stopOn(diagnostics) {
  const errors = diagnostics.filter(({ category }) => category === ts.DiagnosticCategory.Error);
  if (errors.length === 0) return;
  process.stderr.write(ts.formatDiagnostics(errors, format));
  process.exit(1);
}

const config = ts.getParsedCommandLineOfConfigFile(
  `${SEEN_AT}/tsconfig.build.json`,
  { incremental: false, tsBuildInfoFile: undefined },
  { ...system, onUnRecoverableConfigFileDiagnostic: (fault) => stopOn([fault]) },
);
stopOn(config.errors);
rmSync(`${ROOT}/dist`, { recursive: true, force: true });
const host = ts.createIncrementalCompilerHost(config.options, system);
const program = ts.createProgram({ rootNames: config.fileNames, options: config.options, host });
stopOn(ts.getPreEmitDiagnostics(program));
const { diagnostics } = program.emit(undefined, undefined, undefined, false, {
  before: [describeDtos(DTO_OPTIONS, program)],
});
stopOn(diagnostics);
