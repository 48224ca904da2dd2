// For chosen parameters: the share of time at each domain, and relocations to each. For domains: what moved between them.
import { domainColour, domainMark, element, readable, secondsText, tableOf } from "./drawing.mjs";

const MAX_BARS = 60;

export function affinityView({ run, table, keys, width, selected, onSelect }) {
  const bars = [...keys].slice(0, MAX_BARS).map((key) => {
    const { seconds, arrivals } = table.affinity(key, run.duration);
    const bar = element("div", { class: "bar", style: `width: ${Math.min(420, width - 330)}px` });
    seconds.forEach((part, domain) => {
      if (part === 0) return;
      const share = part / run.duration * 100;
      bar.append(element("span", { style: `width: ${share}%; background: ${domainColour(domain)}`,
                                   title: `domain ${domain}: ${secondsText(part)}, ${share.toFixed(1)} %` }));
    });
    const number = element("button", { class: key === selected ? "key selected" : "key", onclick: () => onSelect(key) }, String(table.keyNumbers[key]));
    return [number, bar, arrivals.reduce((sum, one) => sum + one, 0), [...arrivals].map(readable).join("  ")];
  });
  const left = keys.length > MAX_BARS ? [element("p", { class: "note" }, `the first ${MAX_BARS} of ${keys.length} keys: name fewer in the focus`)] : [];
  return element("section", {}, element("h3", {}, `${run.name}, table ${table.name}: share of time at each domain`),
                 tableOf(["key", "owners", "relocations", "to each domain"], bars), ...left);
}

export function clusterView({ run, table, keys }) {
  const flows = table.flows(keys);
  const highest = Math.max(1, ...flows);
  const names = Array.from({ length: table.domains }, (_, domain) => domainMark(domain));
  const rows = names.map((name, from) => [name, ...names.map((_, to) => {
    const count = flows[from * table.domains + to];
    return element("span", { class: "flow", style: `background: rgb(0 114 178 / ${(count / highest * 0.6).toFixed(3)})` }, from === to ? "" : readable(count));
  })]);
  const head = ["from, to", ...names.map((_, domain) => `domain ${domain}`)];
  const hosts = [...new Set(run.hosts)].map((host) => [host, run.hosts.flatMap((of, rank) => (of === host ? [rank] : [])).join(", ")]);
  return element("section", {}, element("h3", {}, `${run.name}, table ${table.name}: relocations between domains`), tableOf(head, rows),
                 tableOf(["host", "ranks there"], hosts));
}
