import eslint from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'libs/platform/database/generated/',
      'libs/clients/api-client/generated/',
      '.drover/',
      '.cache/',
      'my-agent/',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.recommended,
  {
    // What needs types is in .oxlintrc.json: results are kept by file here.
    files: ['**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-extraneous-class': 'off',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', { max: 6 }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(SpreadElement, JSXSpreadAttribute) > :matches(ObjectExpression, ArrayExpression)',
          message: 'Write the entries themselves, not a spread literal.',
        },
      ],
    },
  },
  {
    // Tables of cases are long, and easy to read.
    files: ['**/*spec.ts', '**/testing/**', 'test/**/*.ts'],
    rules: { 'max-lines': ['error', { max: 450, skipBlankLines: true, skipComments: true }] },
  },
  {
    // Patterns meet what clients and processes write: none may take more than time in proportion to it.
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
  {
    files: [
      'tools/**/*.ts',
      'examples/**/*.ts',
      'test/**/*.ts',
      'apps/*/main.ts',
      'scripts/**/*.mjs',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        module: 'writable',
        AbortSignal: 'readonly',
      },
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { globals: { require: 'readonly', __dirname: 'readonly' } },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
