// Tables of commands with a column `robot` (engine/commands/actuation.hpp).
#include "engine/commands/actuation.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"

namespace supple {
namespace {

const std::vector<Input> inputs{{"north", Dimension::length, {0, 1}, false},
                                {"air", Dimension::stress, {0, 1e6}, false}};

double value(const Actuation& table, double time, int robot, std::size_t input = 0) {
  std::vector<double> values(inputs.size());
  table.sample(time, values, robot);
  return values[input];
}

std::string problem(const std::string& text, int robots) {
  try {
    (void)parse_table(text, "c.csv", inputs, robots);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RobotTables, EachRobotHasInstantsOfItsOwn) {
  const Actuation table =
      parse_table("time [ms],air [kPa],robot,north [mm]\n0,0,1,4\n0,1,0,0\n10,2,1,8\n20,3,0,20\n", "c.csv", inputs, 2);
  EXPECT_TRUE(table.for_each_robot());
  EXPECT_EQ(table.rows(), (std::vector<int>{2, 2}));
  EXPECT_DOUBLE_EQ(value(table, 0.005, 0), 0.005);
  EXPECT_DOUBLE_EQ(value(table, 0.005, 1), 0.006);
  EXPECT_DOUBLE_EQ(value(table, 0.015, 1), 0.008);  // held after the last
  EXPECT_DOUBLE_EQ(value(table, 1, 0, 1), 3000);
  EXPECT_DOUBLE_EQ(table.end(), 0.02);
  Control control{std::vector<double>(4), {}};
  EXPECT_EQ(table.evaluate(0.01, 2, control), 0);
  EXPECT_DOUBLE_EQ(control.commands[0], 0.01);
  EXPECT_DOUBLE_EQ(control.commands[2], 0.008);
}

TEST(RobotTables, AreSavedAndReadAgain) {
  const Actuation table = parse_table("time,robot,north\n0,0,1\n0,1,0\n1,1,0.5\n", "c.csv", inputs, 2);
  const Actuation again(inputs, names_of(inputs), table.times(), table.values(), table.rows());
  for (const double time : {0.0, 0.3, 2.0})
    for (const int robot : {0, 1}) EXPECT_EQ(value(again, time, robot), value(table, time, robot));
  EXPECT_THROW(Actuation(inputs, names_of(inputs), table.times(), table.values(), {2, 2}), InputError);
  EXPECT_THROW(Actuation(inputs, names_of(inputs), table.times(), table.values(), {0, 3}), InputError);
}

TEST(RobotTables, WithoutTheColumnOneIsForAll) {
  const Actuation table = parse_table("time,north\n0,1\n1,0\n", "c.csv", inputs, 3);
  EXPECT_FALSE(table.for_each_robot());
  EXPECT_TRUE(table.rows().empty());
  EXPECT_EQ(value(table, 0.25, 2), 0.75);
}

TEST(RobotTables, SayWhatIsWrong) {
  const std::string header = "time,robot,north\n";
  EXPECT_EQ(problem(header + "0,0,1\n0,2,1\n", 3), "robot 1 has no line");
  EXPECT_EQ(problem(header + "0,0,1\n0,3,1\n", 3), "there is no robot 3 in a batch of 3 (the first is robot 0)");
  EXPECT_EQ(problem(header + "0,99999999999999999999,1\n", 3),
            "there is no robot 99999999999999999999 in a batch of 3 (the first is robot 0)");
  for (const std::string index : {"", "-1", "1.5", "two"})
    EXPECT_NE(problem(header + "0," + index + ",1\n0,0,1\n0,2,1\n", 3), "") << index;
  EXPECT_EQ(problem(header + "0,0,1\n0,1,1\n0,0,2\n", 2), "the time of robot 0 does not go forward");
  EXPECT_EQ(problem("time,robot,robot,north\n0,0,0,1\n", 1), "there are two columns 'robot'");
  EXPECT_EQ(problem("time,robot [mm],north\n0,0,1\n", 1), "the index of a robot has no unit");
  EXPECT_EQ(problem("robot,time,north\n0,0,1\n", 1), "the first column is 'robot', not the time");
  try {
    (void)parse_table(header + "# a remark\n0,0,1\n0,7,1\n", "c.csv", inputs, 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.place().line, 4);
    EXPECT_EQ(error.place().column, 3);
  }
}

// An input of that name keeps its column.
TEST(RobotTables, AFolderIsNoTable) {
  EXPECT_THROW((void)read_table(".", inputs), InputError);
  EXPECT_THROW((void)read_table("", inputs), InputError);
}

TEST(RobotTables, AnInputMayBeCalledRobot) {
  const std::vector<Input> own{{"robot", Dimension::length, {0, 1}, false}};
  const Actuation table = parse_table("time,robot [mm]\n0,5\n", "c.csv", own, 2);
  EXPECT_FALSE(table.for_each_robot());
}

}  // namespace
}  // namespace supple
