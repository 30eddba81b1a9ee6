import { Ajv } from 'ajv';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CORE_SCHEMA, load, loadAll, mergeTag } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/config/configuration.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { ADMIN_KEY, useWorld } from '../world/world.js';
import { type Context, renderChart } from './chart.js';
import { installed } from './installed.js';

const run = promisify(execFile);
const read = (path: string) => readFileSync(path, 'utf8');
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects of Kubernetes, whose fields the tests look up
type Json = Record<string, any>;

const examples = read('.env.example');
/** The variables that the service knows, which .env.example lists. */
const known = new Set(Array.from(examples.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm), ([, name]) => name!));

describe('the chart', () => {
  const values = load(read('ops/chart/values.yaml')) as Json;
  const schema = JSON.parse(read('ops/chart/values.schema.json')) as object;
  const valid = new Ajv({ allErrors: true }).compile(schema);
  const context = (changed: Json): Context => ({
    Values: { ...values, ...changed },
    Release: { Name: 'play', Service: 'Helm' },
    Chart: { AppVersion: (load(read('ops/chart/Chart.yaml')) as Json)['appVersion'] },
  });
  const objects = (changed: Json = {}) =>
    renderChart('ops/chart', context(changed))
      .flatMap((text) => loadAll(text) as (Json | null | undefined)[])
      .filter((each): each is Json => each != null);
  const kinds = (changed: Json = {}) =>
    objects(changed)
      .map(({ kind }) => kind as string)
      .sort();
  const pod = (changed: Json = {}): Json =>
    objects(changed).find(({ kind }) => kind === 'Deployment')!['spec'].template.spec;

  test('has values that match their schema, which refuses misspelt ones', () => {
    expect(valid(values), JSON.stringify(valid.errors)).toBe(true);
    expect(valid({ ...values, replica: 3 })).toBe(false);
    expect(valid({ ...values, shutdownDelaySeconds: '5' })).toBe(false);
    expect(valid({ ...values, environment: { NODE_ENV: 'test' } })).toBe(false);
  });

  test('lets only the named peers reach the instances', () => {
    const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }];
    const changed = { networkPolicy: { from } };
    expect(valid({ ...values, ...changed }), JSON.stringify(valid.errors)).toBe(true);
    // Kubernetes refuses a peer without a selector.
    expect(valid({ ...values, networkPolicy: { from: [{}] } })).toBe(false);
    const deployment = objects().find(({ kind }) => kind === 'Deployment')!;
    expect(objects(changed).find(({ kind }) => kind === 'NetworkPolicy')!['spec']).toEqual({
      podSelector: deployment['spec'].selector,
      policyTypes: ['Ingress'],
      ingress: [
        {
          from,
          ports: [{ protocol: 'TCP', port: deployment['spec'].template.spec.containers[0].ports[0].name }],
        },
      ],
    });
  });

  test('renders to the configured objects', () => {
    const usual = ['Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'Service'];
    expect(kinds()).toEqual(usual);
    expect(kinds({ autoscaling: { enabled: false } })).toEqual(
      usual.filter((kind) => !kind.startsWith('Horizontal')),
    );
    const all = {
      ownerSecretName: 'owner',
      monitoring: { enabled: true },
      networkPolicy: { from: [{ podSelector: {} }] },
      ingress: { ...values['ingress'], enabled: true, className: 'nginx', tlsSecretName: 'tls' },
    };
    expect(kinds(all)).toEqual(
      expect.arrayContaining(['CronJob', 'Ingress', 'Job', 'NetworkPolicy', 'PodMonitor', ...usual]),
    );
    for (const { metadata, apiVersion } of objects(all)) {
      expect(metadata.name).toMatch(/^play/);
      expect(metadata.labels['app.kubernetes.io/name']).toBe('croupier');
      expect(apiVersion).toMatch(/v\d/);
    }
  });

  /** The pods of the instances and of the owner's jobs, with the kind of their object. */
  const pods = (changed: Json = {}): [kind: string, spec: Json][] =>
    objects({ ownerSecretName: 'owner', ...changed }).flatMap(({ kind, spec }) => {
      const { template } = spec?.jobTemplate?.spec ?? spec ?? {};
      return template === undefined ? [] : [[kind, template.spec]];
    });

  test('gives no pod a token for the API of Kubernetes', () => {
    const tokens = pods().map(([kind, spec]) => [kind, spec['automountServiceAccountToken']]);
    expect(tokens.sort()).toEqual([
      ['CronJob', false],
      ['Deployment', false],
      ['Job', false],
    ]);
  });

  test('mounts volumes of their own in the instances and in both jobs of the owner', () => {
    const volume = (name: string) => ({ name, persistentVolumeClaim: { claimName: name } });
    const mount = (name: string) => ({ name, mountPath: `/mnt/${name}` });
    const given = {
      volumes: [volume('heads')],
      volumeMounts: [mount('heads')],
      ownerVolumes: [volume('authority')],
      ownerVolumeMounts: [mount('authority')],
    };
    const mounted = pods(given);
    expect(mounted.map(([kind]) => kind).sort()).toEqual(['CronJob', 'Deployment', 'Job']);
    for (const [kind, { containers, volumes }] of mounted) {
      const name = kind === 'Deployment' ? 'heads' : 'authority';
      expect(volumes).toEqual([volume(name)]);
      expect(containers[0].volumeMounts).toEqual([mount(name)]);
    }
    expect(pod()).not.toHaveProperty('volumes');
    expect(valid({ ...values, ...given })).toBe(true);
  });

  test('places the instances and both jobs of the owner, and bounds the jobs', () => {
    const placement = {
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { pool: 'money' },
      tolerations: [{ key: 'pool', operator: 'Equal', value: 'money', effect: 'NoSchedule' }],
    };
    const ownerResources = { requests: { memory: '128Mi' }, limits: { memory: '256Mi' } };
    const given = { ...placement, ownerResources };
    const pods = objects({ ownerSecretName: 'owner', ...given }).flatMap(({ kind, spec }) => {
      const { template } = spec?.jobTemplate?.spec ?? spec ?? {};
      return template === undefined ? [] : [[kind, template.spec]];
    });
    expect(pods).toHaveLength(3);
    for (const [kind, spec] of pods) {
      expect(spec).toMatchObject(placement);
      const expected = kind === 'Deployment' ? (values['resources'] as object) : ownerResources;
      expect(spec.containers[0].resources).toEqual(expected);
    }
    for (const name of Object.keys(placement)) expect(pod()).not.toHaveProperty(name);
    expect(valid({ ...values, ...given })).toBe(true);
    expect(valid({ ...values, tolerations: {} })).toBe(false);
  });

  test('lets the user of the container write to a volume', () => {
    const { containers, securityContext } = pod() as {
      containers: { securityContext: { runAsUser: number } }[];
      securityContext: object;
    };
    expect(securityContext).toEqual({ fsGroup: containers[0]!.securityContext.runAsUser });
  });

  test('lets the Ingress have annotations, and pass on all that people open', () => {
    const annotations = { 'nginx.ingress.kubernetes.io/proxy-body-size': '65m' };
    const ingress = { ...values['ingress'], enabled: true, annotations };
    const { metadata, spec } = objects({ ingress }).find(({ kind }) => kind === 'Ingress')!;
    expect(metadata.annotations).toEqual(annotations);
    const paths = spec.rules[0].http.paths as { path: string }[];
    expect(paths.map(({ path }) => path)).toEqual(['/v1', '/llms.txt', '/console', '/docs-json', '/docs']);
  });

  test('lets Prometheus send the token of /metrics if there is one', () => {
    const endpoint = (authenticated: boolean) =>
      objects({ monitoring: { enabled: true, authenticated } }).find(({ kind }) => kind === 'PodMonitor')![
        'spec'
      ].podMetricsEndpoints[0];
    expect(endpoint(false)).toEqual({ port: 'http', path: '/metrics', interval: '15s' });
    expect(endpoint(true)['authorization']).toEqual({
      credentials: { name: 'croupier', key: 'METRICS_TOKEN' },
    });
  });

  test.each([
    [5, 10, 5, 22],
    [5, 10, 30, 42],
    [5, 20, 5, 32],
    [0, 1, 5, 15],
  ])('allows enough time for the drain: delay %i s, callbacks %i s, wallet %i s, so %i s', (...seconds) => {
    const [shutdownDelaySeconds, callbackTimeoutSeconds, longestWalletTimeoutSeconds, grace] = seconds;
    const spec = pod({ shutdownDelaySeconds, callbackTimeoutSeconds, longestWalletTimeoutSeconds });
    expect(spec['terminationGracePeriodSeconds']).toBe(grace);
    const environment = spec['containers'][0].env as { name: string; value: string }[];
    const set = (name: string) => environment.find((variable) => variable.name === name)?.value;
    expect(set('SHUTDOWN_DELAY_MS')).toBe(String(shutdownDelaySeconds * 1000));
    expect(set('CALLBACK_TIMEOUT_MS')).toBe(String(callbackTimeoutSeconds * 1000));
  });

  test('sets only variables that the service knows, and runs without privileges', () => {
    const [container] = pod()['containers'];
    for (const { name } of container.env) if (name !== 'NODE_ENV') expect(known, name).toContain(name);
    // What a namespace with the Pod Security Standard `restricted` requires, and a read-only file system.
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
    expect(container.livenessProbe.httpGet.path).toBe('/health/live');
  });
});

describe('compose.yaml', () => {
  const { services, volumes: named } = load(read('ops/compose.yaml'), {
    schema: CORE_SCHEMA.withTags(mergeTag),
  }) as { services: Record<string, Json>; volumes: Json };

  test('starts all parts of a deployment, with an environment that the service accepts', () => {
    expect(Object.keys(services).sort()).toEqual([
      'croupier-1',
      'croupier-2',
      'grafana',
      'nginx',
      'postgres',
      'prometheus',
      'redis',
    ]);
    const newKey = () => randomBytes(32).toString('base64url');
    const environment = Object.entries(
      services['croupier-1']!['environment'] as Record<string, string | null>,
    );
    for (const [name] of environment) expect(known, name).toContain(name);
    // A variable without a value is taken from the shell, if it is set there.
    const given = environment.flatMap(([name, value]) =>
      value === null ? [] : [[name, value.replace(/\$\{(\w+)[^}]*\}/, newKey)]],
    );
    expect(
      readConfiguration({ ...(Object.fromEntries(given) as object), NODE_ENV: 'production' }),
    ).toMatchObject({ production: true, sandbox: false });
  });

  test('gives each instance the address that nginx names, so that nginx starts while one is stopped', () => {
    const addresses = ['croupier-1', 'croupier-2'].map(
      (name) => services[name]!['networks'].default.ipv4_address as string,
    );
    for (const address of addresses) expect(address).toMatch(/^10\.213\.7\.\d+$/);
    expect(new Set(addresses).size).toBe(2);
    const servers = read('ops/nginx/nginx.conf').matchAll(/^ *server ([\d.]+):3000 /gm);
    expect(Array.from(servers, ([, address]) => address)).toEqual(addresses);
  });

  test('keeps the nonces in Redis over a restart, and does not evict them', () => {
    const { command, volumes } = services['redis'] as { command: string[]; volumes: string[] };
    const setting = (name: string) => command[command.indexOf(`--${name}`) + 1];
    expect([setting('appendonly'), setting('maxmemory-policy')]).toEqual(['yes', 'noeviction']);
    expect(volumes).toEqual(['redis:/data']);
    expect(named).toHaveProperty('redis');
  });

  test('mounts files that exist', () => {
    const volumes = Object.values(services).flatMap((service) => (service['volumes'] ?? []) as string[]);
    const files = volumes.map((volume) => volume.split(':')[0]!).filter((path) => path.startsWith('./'));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const path of files)
      expect(statSync(join('ops', path)).isFile() || readdirSync(join('ops', path)).length > 0).toBe(true);
  });
});

test.skipIf(!installed('nginx'))('nginx accepts its configuration', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'nginx.conf');
  const text = read('ops/nginx/nginx.conf');
  await writeFile(file, text.replace('/tmp/nginx.pid', join(folder.path, 'nginx.pid')));
  await run('nginx', ['-t', '-c', file]).finally(() => folder.remove());
});

test.skipIf(!installed('systemd-analyze'))('systemd accepts the unit', () => {
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', 'ops/systemd/croupier.service'], {
    encoding: 'utf8',
  });
  // Other units of this machine may have errors of their own.
  expect(stderr.split('\n').filter((line) => line.includes('croupier.service'))).toEqual([]);
  expect(status).toBe(0);
});

test('the unit lets the service write the AUDIT_HEAD_FILE of .env.example, DATA_DIR and every line of its log', () => {
  const [, folder] = /^# AUDIT_HEAD_FILE=\/var\/log\/(\w+)\//m.exec(examples)!;
  const unit = read('ops/systemd/croupier.service');
  expect(unit).toContain(`\nLogsDirectory=${folder}\n`);
  expect(unit).toMatch(/^StateDirectory=croupier$/m);
  expect(unit).toMatch(/^Environment=DATA_DIR=\/var\/lib\/croupier$/m);
  expect(unit).toMatch(/^LogRateLimitIntervalSec=0$/m);
});

describe('smoke.sh', () => {
  const world = useWorld();
  const smoke = (...args: string[]) =>
    new Promise<{ status: number; output: string }>((resolve) => {
      execFile('sh', ['ops/smoke.sh', ...args], (error, stdout) =>
        resolve({ status: error ? Number(error.code) : 0, output: stdout }),
      );
    });

  test('reports a healthy deployment', async () => {
    const { status, output } = await smoke(world.url, ADMIN_KEY);
    expect(output).not.toContain('FAILED');
    expect(output.match(/^ok/gm)).toHaveLength(7);
    expect(status).toBe(0);
  });

  test('accepts an address with slashes at its end', async () => {
    const { status, output } = await smoke(`${world.url}//`, ADMIN_KEY);
    expect(output.match(/^ok/gm)).toHaveLength(7);
    expect(status).toBe(0);
  });

  test('names what is wrong', async () => {
    const { status, output } = await smoke(world.url, 'a-wrong-key');
    expect(output).toContain('FAILED  the admin API answers: 401 instead of 200');
    expect(status).toBe(1);
    expect((await smoke('http://127.0.0.1:1')).status).toBe(1);
  });
});

test('the image copies existing files, and runs without privileges', () => {
  const dockerfile = read('ops/Dockerfile');
  const sources = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm), ([, list]) =>
    list!.split(' '),
  ).flat();
  for (const source of sources) expect(() => statSync(source), source).not.toThrow();
  expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  const ignored = read('.dockerignore').split('\n');
  for (const source of sources) {
    const admitted = ignored.some((line) => line === `!${source}` || line === `!${source.split('/')[0]!}`);
    expect(admitted, `${source} in .dockerignore`).toBe(true);
  }
});
