import { expect, test } from 'vitest';
import { finishedRoundDetailsUrl } from '../../src/tenancy/round-details-url.js';

const VALUES = {
  roundId: 'a/b?c=d&e#f%20"{gameId}',
  playerRef: 'player+1',
  sessionId: null,
  transactionId: 'bet-1',
  gameId: 'slots',
  language: 'pt-BR',
};

test.each([
  ['https://r.example/{gameId}/{gameId}', 'https://r.example/slots/slots'],
  ['https://r.example/{roundId}', 'https://r.example/a%2Fb%3Fc%3Dd%26e%23f%2520%22%7BgameId%7D'],
  [
    'https://r.example/?p={playerRef}&s={sessionId}&l={language}',
    'https://r.example/?p=player%2B1&s=&l=pt-BR',
  ],
  ['https://r.example/$&{transactionId}', 'https://r.example/$&bet-1'],
])('%s becomes %s', (template, finished) => {
  expect(finishedRoundDetailsUrl(template, VALUES)).toBe(finished);
});
