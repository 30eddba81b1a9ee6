import { expect, test } from 'vitest';
import { withServedLinks } from '../../src/openapi/pages/served-links.js';

const ADDRESSES = new Map([
  ['docs/contract.md', '/docs/contract.md'],
  ['sdk/README.md', '/docs/sdk.md'],
]);
const served = (markdown: string) => withServedLinks(markdown, 'docs/integrate/provider.md', ADDRESSES);

test.each([
  ['a page', '[the contract](../contract.md)', '[the contract](/docs/contract.md)'],
  ['a heading of a page', '[rules](../contract.md#a-bet)', '[rules](/docs/contract.md#a-bet)'],
  ['code', '[`sdk`](../../sdk/README.md)', '[`sdk`](/docs/sdk.md)'],
  ['a wrapped line', '[the\ncontract](../contract.md)', '[the\ncontract](/docs/contract.md)'],
  ['a heading of the same page', '[below](#errors)', '[below](#errors)'],
  ['another server', '[npm](https://npmjs.com/)', '[npm](https://npmjs.com/)'],
  ['an address of the service', '[Swagger](/docs/provider)', '[Swagger](/docs/provider)'],
  [
    'a file that is not served',
    '[its tests](../../test/a.ts#L1)',
    'its tests (`test/a.ts` in the repository)',
  ],
  ['a file that the text names', '[`wallet.mjs`](wallet.mjs)', '`wallet.mjs`'],
])('a link to %s: %j', (_, link, expected) => {
  expect(served(`Before ${link}, after.`)).toBe(`Before ${expected}, after.`);
});

test('an image that is not served is left out', () => {
  expect(served('Before ![the console](../images/x.png), after.')).toBe('Before , after.');
});

test.each(['![logo](https://example.com/x.png)', '![page](/images/x.png)'])('an image stays: %s', (image) => {
  expect(served(image)).toBe(image);
});

test.each(['`[a](b.md)`', '```js\nlist[0](b.md)\n[a](b.md)\n```'])('code stays: %j', (code) => {
  expect(served(`Before ${code}, [a](../contract.md)`)).toBe(`Before ${code}, [a](/docs/contract.md)`);
});
