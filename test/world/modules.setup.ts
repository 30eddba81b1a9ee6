import { vi } from 'vitest';

// Each test file evaluates the project's modules anew, whatever the files before it left in them.
vi.resetModules();
