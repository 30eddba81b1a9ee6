/**
 * The error of a failed `listen`, with one line that names the variable to change.
 * @param error as `server.listen` reports it
 */
export function listenFailure(error: unknown, { port, host }: { port: number; host: string }): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `PORT: ${port} is taken on ${host}`,
    EACCES: `PORT: ${port} needs privileges that this user does not have`,
    EADDRNOTAVAIL: `HOST: ${host} is not an address of this machine`,
    ENOTFOUND: `HOST: ${host} is not an address of this machine`,
    EAI_AGAIN: `HOST: ${host} cannot be resolved`,
  };
  const { code, message } = error as { code?: string; message: string };
  return new Error(reasons[code ?? ''] ?? message, { cause: error });
}
