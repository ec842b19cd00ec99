// The pages that the navigation, the palette and the keys go to.
import { IconActivity, IconArrowsSplit, IconChartBar, IconFolders, IconHistory, IconMessages, IconRadar2, IconSettings, IconTargetArrow, IconTrophy, type Icon } from "./icons.gen";

export interface NavItem {
  href: string;
  label: string;
  icon: Icon;
  key: string; // pressed after g
}

export const nav: NavItem[] = [
  { href: "/", label: "Now", icon: IconRadar2, key: "n" },
  { href: "/conflicts", label: "Conflicts", icon: IconArrowsSplit, key: "c" },
  { href: "/intents", label: "Intents", icon: IconTargetArrow, key: "i" },
  { href: "/messages", label: "Messages", icon: IconMessages, key: "m" },
  { href: "/activity", label: "Activity", icon: IconActivity, key: "a" },
  { href: "/history", label: "History", icon: IconHistory, key: "h" },
  { href: "/repos", label: "Repos", icon: IconFolders, key: "r" },
  { href: "/value", label: "This week", icon: IconTrophy, key: "w" },
  { href: "/stats", label: "Stats", icon: IconChartBar, key: "t" },
  { href: "/settings", label: "Settings", icon: IconSettings, key: "s" },
];
