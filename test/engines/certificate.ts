import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../world/temporary-folder.js';

/** The files of a certificate for localhost and 127.0.0.1, by an authority that no machine trusts. */
export interface Certificate {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
  remove(): Promise<void>;
}

export async function createCertificate(): Promise<Certificate> {
  const folder = await temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  const openssl = (...options: string[]) => execFileSync('openssl', options, { stdio: 'pipe' });
  const newKey = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', file(name)];
  openssl('req', '-x509', ...newKey('ca.key'), '-subj', '/CN=Test authority', '-out', file('ca.crt'));
  openssl('req', ...newKey('server.key'), '-subj', '/CN=localhost', '-out', file('server.csr'));
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const authority = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial'];
  const signed = ['-extfile', file('names'), '-out', file('server.crt')];
  openssl('x509', '-req', '-in', file('server.csr'), ...authority, ...signed);
  return {
    authority: file('ca.crt'),
    certificate: file('server.crt'),
    key: file('server.key'),
    remove: () => folder.remove(),
  };
}
