/** Foreign text as PostgreSQL can store it: NUL and lone surrogates are replaced by U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
