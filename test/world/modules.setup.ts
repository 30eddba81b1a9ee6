import { vi } from 'vitest';

// Each test file evaluates the project's modules again, regardless of the state that earlier files left in them.
vi.resetModules();
