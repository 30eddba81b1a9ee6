/** What the calls that share a signal do when it aborts. */
interface Listening {
  actions: Set<() => void>;
  stop: () => void;
}

const listeningTo = new WeakMap<AbortSignal, Listening>();

/**
 * Runs an action once when a signal aborts, or at once if the signal is aborted. All actions share one listener, because
 * Node warns of a memory leak when a signal has more than ten.
 * @returns a function that drops the action
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => undefined;
  }
  const { actions, stop } = listeningTo.get(signal) ?? listenTo(signal);
  // An object of its own, because two calls may pass the same function.
  const own = () => action();
  actions.add(own);
  return () => {
    if (actions.delete(own) && actions.size === 0) stop();
  };
}

function listenTo(signal: AbortSignal): Listening {
  const actions = new Set<() => void>();
  const run = () => {
    stop();
    for (const action of actions) action();
  };
  const stop = () => {
    listeningTo.delete(signal);
    signal.removeEventListener('abort', run);
  };
  const listening = { actions, stop };
  listeningTo.set(signal, listening);
  signal.addEventListener('abort', run);
  return listening;
}
