import { useGroupCommit } from '../world/group-commit.js';
import { declareAgain } from './suites.js';

// Usually a single item uses the plain statement; here it uses the batch form, too.
useGroupCommit('always');
declareAgain('killed');
