/**
 * Maximum number of operators, and of providers, with their own label; the rest share `other`. Contract, section 10.
 */
const TENANTS_LIMIT = 200;
/** Maximum number of operator–provider pairs with labels of their own: all possible pairs would be too many series. */
const PAIRS_LIMIT = 2_000;

const OTHER = 'other';

export interface TenantLabels {
  readonly operator?: string;
  readonly provider?: string;
}

/** Limits the number of label values. The first tenants keep their ids as labels, and all others share `other`. */
export class BoundedTenants {
  private readonly operators = new BoundedNames(TENANTS_LIMIT);
  private readonly providers = new BoundedNames(TENANTS_LIMIT);
  private readonly pairs = new BoundedNames(PAIRS_LIMIT);

  operator(id: string): string {
    return this.operators.admit(id) ? id : OTHER;
  }

  provider(id: string): string {
    return this.providers.admit(id) ? id : OTHER;
  }

  /** Beyond `PAIRS_LIMIT`, only the provider becomes `other`, so that sums over an operator stay correct. */
  pair(operatorId: string, providerId: string): { operator: string; provider: string } {
    const operator = this.operator(operatorId);
    const provider = this.provider(providerId);
    return { operator, provider: this.pairs.admit(`${operator} ${provider}`) ? provider : OTHER };
  }

  labels({ operator, provider }: TenantLabels): TenantLabels {
    if (operator !== undefined && provider !== undefined) return this.pair(operator, provider);
    if (operator !== undefined) return { operator: this.operator(operator) };
    return provider === undefined ? {} : { provider: this.provider(provider) };
  }
}

class BoundedNames {
  private readonly names = new Set<string>();

  constructor(private readonly limit: number) {}

  /** Whether the name has a label of its own. A new name gets one while there is room. */
  admit(name: string): boolean {
    if (this.names.has(name)) return true;
    if (this.names.size >= this.limit) return false;
    this.names.add(name);
    return true;
  }
}
