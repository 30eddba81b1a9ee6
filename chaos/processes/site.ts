import { type Address, Link } from './link.js';
import { ADDRESSES, type Place } from './names.js';

/** The links at the addresses to which a party's name can lead, all with the same port. */
export class Site {
  /** Ends the refusal of the former address of a party that has moved. */
  private moveBack: () => void = () => undefined;

  private constructor(private readonly links: Readonly<Record<Place, Link>>) {}

  /** @param other the party to which the name leads by mistake */
  static async open(
    name: string,
    party: () => Address | undefined,
    other: () => Address | undefined,
  ): Promise<Site> {
    const home = await Link.open(name, party);
    const at = (place: Place) => ({ host: ADDRESSES[place], port: home.port });
    return new Site({
      home,
      moved: await Link.open(`${name}-moved`, party, at('moved')),
      other: await Link.open(`${name}-other`, other, at('other')),
    });
  }

  at(place: Place): Link {
    return this.links[place];
  }

  all(): Link[] {
    return Object.values(this.links);
  }

  /**
   * Cuts the connections to the addresses to which the name no longer leads. A party that has moved is no longer at its
   * former address. Other faults of the links continue.
   * @param place undefined if the name does not resolve
   */
  lead(place: Place | undefined): void {
    this.moveBack();
    this.moveBack = () => undefined;
    for (const [at, link] of Object.entries(this.links)) if (at !== place) link.cut();
    if (place === 'moved') this.moveBack = this.links.home.refuse();
  }
}
