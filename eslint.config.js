import neostandard from 'neostandard'
import { configs, config } from 'typescript-eslint'

export default config(
  neostandard({
    ts: true,
    noStyle: true,
    // Tests type-check the client, whose types are generated, and the site, which imports the package.
    ignores: [
      '**/dist/**',
      'data/**',
      '.tap/**',
      '**/applications/examples/**',
      'examples/api-client.ts',
      'examples/site/**',
    ],
  }),
  {
    files: ['**/*.ts'],
    extends: [configs.recommendedTypeChecked],
    languageOptions: {
      // The examples import the package by its name, so they are no part of the project.
      parserOptions: { projectService: { allowDefaultProject: ['packages/fastify-profiler/examples/*.ts'] } },
    },
    rules: {
      // Prettier does not break comments.
      'max-len': [
        'error',
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
      // "void promise" marks a promise that is deliberately not awaited.
      'no-void': ['error', { allowAsStatement: true }],
      // Fastify's hooks and handlers are async or take a callback, even if they await nothing.
      '@typescript-eslint/require-await': 'off',
      // Fastify awaits error handlers and pg awaits onConnect, although their types return void.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { properties: false } }],
      // Kysely's expression builders may be destructured, and the profiler wraps methods of other objects.
      '@typescript-eslint/unbound-method': 'off',
      // Caught errors are unknown and are rethrown unchanged.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
    },
  },
  {
    // Tests and benchmarks read untyped answers, throw odd values on purpose, and let tap await subtests.
    files: ['**/test/**/*.ts', '**/bench/**/*.ts'],
    rules: {
      '@typescript-eslint/await-thenable': 'off',
      '@typescript-eslint/no-misused-promises': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafePromises: [{ from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' }] },
      ],
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
)
