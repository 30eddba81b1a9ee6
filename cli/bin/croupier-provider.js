#!/usr/bin/env node
import { main } from '../dist/main.js';

// The reader of the output, such as `head`, may exit first.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await main(process.argv.slice(2));
