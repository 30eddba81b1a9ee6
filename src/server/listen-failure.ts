/**
 * The error of a failed `listen`, with one line that names the variable to change.
 * @param error as `server.listen` reports it
 * @param portName how the line names the port, `PORT` by default
 */
export function listenFailure(
  error: unknown,
  { port, host, portName = 'PORT' }: { port: number; host: string; portName?: string },
): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `${portName}: ${port} is taken on ${host}`,
    EACCES: `${portName}: ${port} needs privileges that this user does not have`,
    EADDRNOTAVAIL: `HOST: ${host} is not an address of this machine`,
    ENOTFOUND: `HOST: ${host} is not an address of this machine`,
    EAI_AGAIN: `HOST: ${host} cannot be resolved`,
  };
  const { code, message } = error as { code?: string; message: string };
  return new Error(reasons[code ?? ''] ?? message, { cause: error });
}
