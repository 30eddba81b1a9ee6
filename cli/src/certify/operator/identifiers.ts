/** The longest identifier of the contract, in characters. */
export const LONGEST_ID = 128;
export const PUNCTUATION = '!"#$%&\'()*+,/:;<=>?@[\\]^_`{|}~';
