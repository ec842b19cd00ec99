// Filters that several lists share. Their values live in the address.
import { Select } from "@mantine/core";
import { useMembers, useRepos } from "../lib/queries";

interface FilterProps {
  w?: number;
  value: string;
  onChange: (v: string | null) => void;
}

export function RepoFilter({ value, onChange, w = 190 }: FilterProps) {
  const repos = useRepos();
  const names = (repos.data?.items ?? []).map((r) => r.full_name);
  if (value && !names.includes(value)) names.push(value);
  return <Select aria-label="Repo" placeholder="Every repo" size="xs" w={w} clearable searchable value={value || null} onChange={onChange} data={names} />;
}

export function PersonFilter({ value, onChange, w = 160 }: FilterProps) {
  const members = useMembers();
  const people = (members.data?.items ?? []).map((m) => ({ value: m.email, label: m.name }));
  if (value && value !== "me" && !people.some((p) => p.value === value)) people.push({ value, label: value });
  return <Select aria-label="Owner" placeholder="Everybody" size="xs" w={w} clearable searchable value={value || null} onChange={onChange} data={[{ value: "me", label: "Mine" }, ...people]} />;
}

export function ChoiceFilter({ value, onChange, label, all, data, w = 150 }: FilterProps & { label: string; all: string; data: { value: string; label: string }[] }) {
  return <Select aria-label={label} placeholder={all} size="xs" w={w} clearable value={value || null} onChange={onChange} data={data} />;
}
