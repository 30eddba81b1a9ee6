const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Aborts on SIGINT, SIGTERM or SIGHUP, which a closed terminal sends. The handlers stay registered until `end`, because
 * npm forwards a signal that the terminal has already sent, and without a handler it would end the process in the middle
 * of its cleaning up.
 */
export function interruption(): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => controller.abort(new Error(`interrupted by ${name}`));
  for (const name of SIGNALS) process.on(name, interrupt);
  const end = () => {
    for (const name of SIGNALS) process.off(name, interrupt);
  };
  return { signal: controller.signal, end };
}
