import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const noEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'The environment is read once, in src/config: take what you need from Configuration.',
};
const noClock = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'The time comes from src/runtime/clock.ts.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'The time comes from src/runtime/clock.ts.',
  },
  {
    selector: "MemberExpression[object.name='performance'][property.name='now']",
    message: 'Durations come from src/runtime/clock.ts.',
  },
];
const noThrottlerDecorators = {
  name: '@nestjs/throttler',
  importNames: ['SkipThrottle', 'Throttle'],
  message: 'TenantThrottlerGuard ignores the decorators of the library.',
};
const noBareConnection = {
  selector: "NewExpression[callee.object.name='pg'][callee.property.name=/^(Client|Pool)$/]",
  message:
    'Use Connection of src/database/connection.ts: a bare client that loses its connection ends the process.',
};
const noCastMessage = {
  selector:
    "MemberExpression[property.name='message'] > TSAsExpression.object[typeAnnotation.typeName.name='Error']",
  message: 'The message may be empty: use failureText of src/runtime/failure-text.ts.',
};
const noSave = {
  selector: "CallExpression[callee.property.name='save']",
  message:
    'save() writes every column of an entity that may be stale: use insert(), or update() of the columns that change.',
};
const noShortWait = {
  selector:
    "CallExpression[callee.object.name='vi'][callee.property.name=/^wait(For|Until)$/][arguments.length=1]",
  message: 'Without options it gives up after a second: use PATIENCE of test/world/patience.ts.',
};
const noSpreadLiteral = {
  selector:
    ':matches(ObjectExpression > SpreadElement > ObjectExpression, :matches(ArrayExpression, CallExpression, NewExpression) > SpreadElement > ArrayExpression)',
  message: 'List the elements: a spread literal only steers the formatter.',
};
const noRandomness = [
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Randomness comes from src/runtime/randomness.ts.',
  },
  {
    selector:
      'ImportDeclaration[source.value=/^(node:)?crypto$/] > ImportSpecifier[imported.name=/^(random|getRandomValues$|webcrypto$)/]',
    message: 'Randomness comes from src/runtime/randomness.ts.',
  },
  {
    selector:
      'ImportDeclaration[source.value=/^(node:)?crypto$/] > :matches(ImportNamespaceSpecifier, ImportDefaultSpecifier)',
    message: 'Import what you need by name, so that randomness shows.',
  },
  {
    selector: "MemberExpression[object.name='crypto'][property.name=/^(randomUUID|getRandomValues)$/]",
    message: 'Randomness comes from src/runtime/randomness.ts.',
  },
];

export default defineConfig(
  globalIgnores([
    '**/dist/',
    'bench/.previous/',
    '**/coverage/',
    '.stryker/',
    '**/data/',
    'sdk/docs/api/',
    'test/docs/generated/',
    'console/src/api/schema.d.ts',
  ]),
  js.configs.recommended,
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: { globals: { console: 'readonly', module: 'writable', process: 'readonly' } },
  },
  {
    // These files run in a browser.
    files: ['src/openapi/pages/*.js'],
    languageOptions: {
      globals: { atob: 'readonly', fetch: 'readonly', TextEncoder: 'readonly', URL: 'readonly' },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `port!` states an invariant that the types cannot express.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // `return response.end()` and `() => resolve()` are easy to read.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // Request and response classes have no methods that a spread or an assignment could lose.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A port is asynchronous, even if an implementation awaits nothing.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'no-restricted-syntax': ['error', noSpreadLiteral],
    },
  },
  {
    files: ['{,sdk/,cli/}test/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noSpreadLiteral, noShortWait] },
  },
  {
    // A regular expression that takes quadratic time blocks the process for seconds on 64 KiB of untrusted text.
    files: ['src/**/*.{ts,js}', 'sdk/**/*.ts', 'cli/**/*.ts', 'console/src/**/*.{ts,tsx}'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false }],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        noSpreadLiteral,
        noEnvironment,
        noBareConnection,
        noCastMessage,
        noSave,
        ...noClock,
        ...noRandomness,
      ],
    },
  },
  {
    files: ['src/config/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noSpreadLiteral, noCastMessage, ...noClock, ...noRandomness] },
  },
  {
    files: ['src/runtime/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noSpreadLiteral, noEnvironment, noCastMessage] },
  },
  {
    // The sandbox plays external systems, which have clocks of their own.
    files: ['src/sandbox/**/*.ts', 'src/demo/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', noSpreadLiteral, noEnvironment, noCastMessage, ...noRandomness],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', noThrottlerDecorators] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/outbound/**', 'src/sandbox/**', 'src/demo/**'],
    rules: {
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Calls leave through src/outbound.' }],
    },
  },
  {
    // These files write to a terminal.
    files: [
      'src/main.ts',
      'src/commands/**/*.ts',
      'src/demo/transcript.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
      'chaos/**/*.ts',
      'model/**/*.ts',
      'mutants/**/*.ts',
      'sdk/examples/**/*.ts',
      // A handler without `onError` reports errors on the console.
      'sdk/src/callback-handler.ts',
      'sdk/test/**/*.ts',
      'cli/test/**/*.ts',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts', 'sdk/test/**/*.ts', 'cli/test/**/*.ts', 'bench/**/*.ts', 'chaos/**/*.ts'],
    rules: {
      // Tests compare untyped answers with the contract.
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // TypeScript treats a flag that is set only in a callback as a constant.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Tests read Nest's metadata of methods without calling them.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
