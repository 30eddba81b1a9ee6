import { useGroupCommit } from '../world/group-commit.js';
import { declareAgain } from './suites.js';

// Without group commit: the same suites, with one row per statement.
useGroupCommit('off');
declareAgain();
