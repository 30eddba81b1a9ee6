/**
 * Loaded before the server by `npm run bench:profile`: SIGUSR2 begins a CPU profile, and the next one writes it to
 * PROFILE_FILE. That it has begun is said by a file of the same name with `.begun`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const INTERVAL_US = 200;
const FILE = process.env['PROFILE_FILE'] ?? 'server.cpuprofile';

const session = new Session();
session.connect();
let running = false;

process.on('SIGUSR2', () => void toggle());

async function toggle(): Promise<void> {
  running = !running;
  if (running) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    writeFileSync(`${FILE}.begun`, '');
  } else {
    const { profile } = await session.post('Profiler.stop');
    // Whoever waits for the file finds all of it.
    writeFileSync(`${FILE}.part`, JSON.stringify(profile));
    renameSync(`${FILE}.part`, FILE);
  }
}
