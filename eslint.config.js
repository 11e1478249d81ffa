import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const NODE_GLOBALS =
  'AbortController AbortSignal Buffer TextDecoder TextEncoder URL URLSearchParams clearTimeout console fetch performance process setImmediate setTimeout';

const MAX_LINES = ['error', { max: 300, skipBlankLines: true, skipComments: true }];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'coverage/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'max-lines': MAX_LINES,
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['packages/client/src/indexed-db.ts', 'packages/client/src/indexed-db/**'],
    languageOptions: {
      parserOptions: { project: './tsconfig.browser.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    files: ['**/*.spec.ts', '**/*.sample.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { globals: readonly(NODE_GLOBALS.split(' ')) },
    rules: { 'max-lines': MAX_LINES },
  },
  // A table, one entry after the other.
  { files: ['test/mutations/*.mjs'], rules: { 'max-lines': 'off' } },
);

function readonly(names) {
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}
