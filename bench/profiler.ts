/**
 * Loaded before the server by `npm run bench:profile`: SIGUSR2 begins a CPU profile, and the next one writes it to
 * PROFILE_FILE. A file of the same name with `.begun` confirms the beginning.
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
    // Renamed, so that the file is complete when it appears.
    writeFileSync(`${FILE}.part`, JSON.stringify(profile));
    renameSync(`${FILE}.part`, FILE);
  }
}
