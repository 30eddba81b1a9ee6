import type { FoundRow } from './search.store.js';

/** The admin route that shows a found record. */
export function hrefOf(found: FoundRow): string {
  const { type, id, operatorId, providerId, playerRef, gameId, mode, transactionId, callbackId } = found;
  switch (type) {
    case 'transaction':
      return path('transactions', providerId, id);
    case 'round':
      return path('rounds', providerId, id) + query({ operatorId, playerRef, gameId, mode });
    case 'session':
      return path('sessions', id);
    case 'player':
      return path('transactions') + query({ operatorId, playerRef });
    case 'grant':
      return path('free-spins', id);
    case 'batch':
      return path('free-spins', 'batches', id);
    case 'approval':
      return path('approvals', id);
    case 'request':
      if (callbackId !== null) return path('callbacks', callbackId);
      return transactionId === null
        ? path('audit') + query({ requestId: id })
        : path('transactions', providerId, transactionId);
  }
}

function path(...segments: (string | null)[]): string {
  return ['/v1/admin', ...segments.map((segment) => encodeURIComponent(segment ?? ''))].join('/');
}

function query(parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `?${new URLSearchParams(given).toString()}`;
}
