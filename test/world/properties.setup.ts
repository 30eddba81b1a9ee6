import fc from 'fast-check';

// A mutant's fate must not depend on chance, and a property is slow to run for each of them.
fc.configureGlobal({ seed: 1, numRuns: 20 });
