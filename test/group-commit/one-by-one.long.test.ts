import { useGroupCommit } from '../world/group-commit.js';
import { declareAgain } from './suites.js';

// Without group commit: the same words, one row at a time.
useGroupCommit('off');
declareAgain();
