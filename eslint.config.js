import neostandard from 'neostandard'
import { configs, config } from 'typescript-eslint'

export default config(
  neostandard({ ts: true, noStyle: true, ignores: ['**/dist/**', 'data/**', '.tap/**'] }),
  {
    files: ['**/*.ts'],
    extends: [configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // A statement that begins with void waits for nothing, and says so.
      'no-void': ['error', { allowAsStatement: true }],
      // An async function is how a hook or a handler says that it takes no callback.
      '@typescript-eslint/require-await': 'off',
      // Fastify waits for an error handler that its types let return nothing, and pg for onConnect.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { properties: false } }],
      // Kysely's builders come apart on purpose, and the profiler takes methods off objects to wrap them.
      '@typescript-eslint/unbound-method': 'off',
      // What was caught may be anything, and is thrown on as it came.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
    },
  },
  {
    // Tests and benchmarks read answers, which are of any type, fail on purpose, and leave waiting for subtests to tap.
    files: ['**/test/**/*.ts', 'bench/**/*.ts'],
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
  { files: ['plugins/debug/profiler/**/*.ts'], extends: [configs.disableTypeChecked] },
)
